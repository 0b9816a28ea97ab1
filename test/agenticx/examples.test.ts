/**
 * The examples of AgenticX's page and of ours, as their readers run them: twice, the first process killed in the middle
 * of them. A second one takes their work up.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from '@jest/globals';
import { type Example, type Group, runTwice } from '../support/examples-twice.ts';

const PAGE = 'docs/agenticx.md';
/** Typical usage, line 20 of AgenticX's page, as a program of the clone. */
const TYPICAL = readFileSync(join(import.meta.dirname, '../../examples/agenticx/typical-usage.ts'), 'utf8')
  .replace('../../src/faces/agenticx/index.ts', 'everthread/agenticx')
  .replace('../../src/testing/index.ts', 'everthread/testing');

const refundOnce = ['run: ({ order }) =>', "run: ({ order }) => did('refunded') ??"] as const;

const EXAMPLES: Readonly<Record<string, Example>> = {
  typical: {
    page: 'Agent Runtime',
    at: { line: 20, source: TYPICAL },
    stop: 'model 2',
    edits: [['run: () => [', "run: () => did('searched') ?? ["]],
  },
  refunded: { page: PAGE, at: 'Refund order 4711.', stop: 'model 2', edits: [refundOnce] },
  asked: {
    page: PAGE,
    at: 'Refund order 4711.',
    stop: 'asked',
    edits: [
      refundOnce,
      ["systemPrompt: '", "name: 'asking', systemPrompt: '"],
      ["'session-1'", "'session-2'"],
      [
        "if (event.type === 'confirm_required')",
        "if (event.type === 'confirm_required') await stop('asked');\nif (event.type === 'confirm_required')",
      ],
    ],
  },
  nameless: {
    page: PAGE,
    at: 'executor.run({ agent, task })',
    stop: 'model 1',
    edits: [
      ["id: 't1', ", ''],
      ["'research_assistant'", "'nameless'"],
      [
        'await executor.close();',
        'console.log(success, result, event_log[0], stats.llm_calls);\nawait executor.close();',
      ],
    ],
  },
};

let ran: Group;
const example = (name: string) => {
  const found = ran.examples[Object.keys(EXAMPLES).indexOf(name)];
  if (!found) throw new Error(`${name} is no example.`);
  return found;
};

beforeAll(async () => {
  ran = await runTwice(Object.values(EXAMPLES));
}, 300_000);

it('[AX-140] typical usage: a task runs to its result; a second process takes it up, and another run is the same', () => {
  const { first, second, again, count } = example('typical');
  expect(first.state).toBe('killed at model 2');
  expect(second).toMatchObject({ state: 'done' });
  expect(second.lines.slice(-3)).toEqual([
    'task_end',
    'success: true, result: X is well understood.',
    'calls: 2, state: completed',
  ]);
  expect(again.lines).toEqual(second.lines);
  expect([count('searched'), again.did]).toEqual([1, []]);
});

it('its process logs warnings alone: none of them, unless a call was lost', () => {
  expect(
    ran.errors
      .join('')
      .split('\n')
      .filter((line) => line.includes('INFO') || line.includes('"info"')),
  ).toEqual([]);
  expect(ran.errors[0]).toBe('');
});

it('a turn without an id is taken up by the next process that says the same, and its call is not repeated', () => {
  const { first, second, again, count } = example('refunded');
  expect(first.state).toBe('killed at model 2');
  expect(second.lines.slice(0, first.lines.length)).toEqual(first.lines);
  expect(second.lines.at(-1)).toBe("final { text: 'It is on its way.' }");
  expect(second.did).toEqual(['model 2']);
  // It has ended: the same words begin another turn.
  expect(again.did).toEqual(['model 3', 'refunded', 'model 4']);
  expect(count('refunded')).toBe(2);
});

it('[AX-93] a question that is open when its process dies is asked by the gate of the next one', () => {
  const { first, second } = example('asked');
  expect([first.state, first.did]).toEqual(['killed at asked', ['model 1']]);
  expect(second.lines.slice(0, first.lines.length)).toEqual(first.lines);
  expect([second.state, second.did]).toEqual(['done', ['refunded', 'model 2']]);
});

it('a task without an id is taken up by the next process that gives the same one; once it has ended, it is a new one', () => {
  const { first, second, again } = example('nameless');
  expect([first.state, first.did]).toEqual(['killed at model 1', ['model 1']]);
  expect([second.state, second.did]).toEqual(['done', ['model 1']]);
  expect(second.lines.join()).toMatch(/^true X is well understood\. .*task_id: 'same-\w+\.1'.* 1$/s);
  expect(again.lines.join()).toMatch(/^true X is well understood\. .*task_id: 'same-\w+\.2'.* 1$/s);
});
