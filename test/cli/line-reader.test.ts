/** Reading what a person types and pastes in `everthread chat`. */
import { PassThrough } from 'node:stream';
import { expect, it } from '@jest/globals';
import { LineReader } from '../../src/cli/chat/line-reader.ts';

function typing({ isTerminal = true } = {}) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  let written = '';
  output.setEncoding('utf8').on('data', (text: string) => (written += text));
  return { input, output: () => written, lines: new LineReader('you > ', { input, output, isTerminal }) };
}

it('a pasted text of several lines is one message, and a typed line another', async () => {
  const { input, lines } = typing();
  input.write('one\r\ntwo\r\n\r\nthree\r\n');
  expect(await lines.next()).toBe('one\ntwo\n\nthree');
  input.write('four\r');
  expect(await lines.next()).toBe('four');
  lines.close();
});

it('a bracketed paste is one message, sent by Enter, however slowly it arrives', async () => {
  const { input, output, lines } = typing();
  expect(output()).toContain('\u001b[?2004h');
  let taken: string | undefined;
  const next = lines.next().then((line) => {
    taken = line;
  });
  input.write('see: \u001b[200~one\r');
  // Longer than the lines of a paste without paste marks may be apart.
  const { promise: later, resolve } = Promise.withResolvers<void>();
  setTimeout(resolve, 100);
  await later;
  input.write('\r\tthree\u001b[201~');
  await new Promise(setImmediate);
  expect(taken).toBeUndefined();
  input.write(' and more\r');
  await next;
  expect(taken).toBe('see: one\n\n\tthree and more');
  input.write('next\r');
  expect(await lines.next()).toBe('next');
  lines.close();
  expect(output()).toContain('\u001b[?2004l');
});

it('a pasted text without a final line break waits for Enter', async () => {
  const { input, lines } = typing();
  input.write('one\r\ntwo');
  const next = lines.next();
  input.write('\r');
  expect(await next).toBe('one\ntwo');
  lines.close();
});

it('text typed ahead answers no question', async () => {
  const { input, lines } = typing({ isTerminal: false });
  const first = lines.next();
  input.write('one\ntyped ahead\n');
  await first;
  const asked = lines.ask('Really? [y/N] ');
  input.write('y\n');
  expect(await asked).toBe('y');
  expect(await lines.next()).toBe('typed ahead');
  lines.close();
});

it('Ctrl-C and the end of input leave a question unanswered', async () => {
  const { input, lines } = typing();
  lines.onInterrupt = () => undefined;
  const left = lines.ask('Really? [y/N] ');
  input.write('\u0003');
  expect(await left).toBeUndefined();
  const last = lines.ask('Really? [y/N] ');
  input.end();
  expect(await last).toBeUndefined();
});

it('text held when the input ends is still a message', async () => {
  const { input, lines } = typing();
  input.write('one\r\n');
  input.end();
  expect(await lines.next()).toBe('one');
  expect(await lines.next()).toBeUndefined();
});
