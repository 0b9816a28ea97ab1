/** The status line that shows the current activity. */
import { stripVTControlCharacters } from 'node:util';
import { expect, it } from '@jest/globals';
import { ActivityLine } from '../../../src/cli/answer/answer-printer.ts';
import { eventually } from '../../support/eventually.ts';

function terminal(isTTY: boolean) {
  let written = '';
  const write = (text: string) => {
    written += text;
  };
  return { output: { isTTY, columns: 40, write }, written: () => written };
}

it('shows the activity and its duration in a terminal, and clears the line', async () => {
  const { output, written } = terminal(true);
  const line = new ActivityLine(output);
  line.show('thinking');
  await eventually('it is seen', () => / thinking \d+s/.test(written()));
  line.show(`a tool of a very long name that no terminal of this width could show ${'x'.repeat(100)}`);
  await eventually('it says the other', () => written().includes('a tool of'));
  line.hide();
  expect(written().endsWith('\r\u001b[2K')).toBe(true);
  for (const shown of written().split('\r\u001b[2K'))
    expect(stripVTControlCharacters(shown).length).toBeLessThan(40);
});

it('writes nothing if the output is not a terminal', () => {
  const { output, written } = terminal(false);
  const line = new ActivityLine(output);
  line.show('thinking');
  line.hide();
  expect(written()).toBe('');
});
