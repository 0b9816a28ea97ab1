/** What a person types and pastes in `everthread chat`. */
import { PassThrough } from 'node:stream';
import { expect, it } from '@jest/globals';
import { LineReader } from '../../src/cli/chat/line-reader.ts';

function typing({ isTerminal = true } = {}) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  output.resume();
  return { input, lines: new LineReader('you > ', { input, output, isTerminal }) };
}

it('a pasted text of many lines is one message, and a typed line another', async () => {
  const { input, lines } = typing();
  input.write('one\r\ntwo\r\n\r\nthree\r\n');
  expect(await lines.next()).toBe('one\ntwo\n\nthree');
  input.write('four\r');
  expect(await lines.next()).toBe('four');
  lines.close();
});

it('a pasted text whose last line has no end waits for Enter', async () => {
  const { input, lines } = typing();
  input.write('one\r\ntwo');
  const next = lines.next();
  input.write('\r');
  expect(await next).toBe('one\ntwo');
  lines.close();
});

it('what was typed ahead answers no question', async () => {
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

it('Ctrl-C and the end of the input leave a question without an answer', async () => {
  const { input, lines } = typing();
  lines.onInterrupt = () => undefined;
  const left = lines.ask('Really? [y/N] ');
  input.write('\u0003');
  expect(await left).toBeUndefined();
  const last = lines.ask('Really? [y/N] ');
  input.end();
  expect(await last).toBeUndefined();
});

it('what was held when the input ends is still a message', async () => {
  const { input, lines } = typing();
  input.write('one\r\n');
  input.end();
  expect(await lines.next()).toBe('one');
  expect(await lines.next()).toBeUndefined();
});
