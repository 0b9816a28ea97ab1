/**
 * The examples of Tangle's page and of ours, as their readers run them: twice, the first process killed in the middle
 * of them. A second one takes their work up.
 */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Example, type Group, runTwice } from '../support/examples-twice.ts';
import * as own from './own-examples.ts';
import * as page from './page-examples.ts';

const TURN = 'session.run.started message.started . llm_call result session.run.completed';
const COUNTED = ['step 0: done', 'step 1: done', 'step 2: done', 'completed: all evals pass, score 1'];

interface Expected {
  readonly example: Example;
  /** Printed by the second process, and by the last run unless that has its own. */
  readonly lines: readonly unknown[];
  readonly again?: readonly unknown[];
  /** Effects that happen once in all three runs. */
  readonly once?: readonly string[];
  /** Effects of the last run, when the work has ended. */
  readonly repeats?: readonly string[];
}

const EXPECTED: readonly Expected[] = [
  // A backend alone keeps nothing: it is asked again, with the key of the same turn if it is given one.
  { example: page.ALONE, lines: ['Hello.'], repeats: ['model of m'] },
  {
    example: page.STACK,
    lines: ['0 You said hello session.run.completed', '1 You said hello session.run.completed'],
  },
  { example: page.TASK, lines: ['completed 1 3 true'], once: ['add 0', 'add 1', 'add 2'] },
  { example: page.ASK, lines: ['completed red'], once: ['answered'] },
  { example: page.STREAM, lines: ['completed From afar. From afar.'] },
  { example: page.BOX, lines: ['tax:box-1:0 From the box.'] },
  {
    example: page.POST,
    lines: [
      'execution.started execution.completed Posted.',
      'execution.completed',
      '404 execution_not_found',
    ],
  },
  { example: page.CATALOGUE, lines: ['env true,false,false'] },
  { example: page.FALLBACK, lines: ['model_fallback,Hello from b'] },
  { example: page.BASIC, lines: COUNTED },
  {
    example: page.REVIEWER,
    lines: [
      'thorough: completed, pass true',
      'hasty: failed, pass false, the draft fails: long-enough, surfaces-missing',
    ],
  },
  {
    example: page.CHAT,
    lines: [TURN, TURN, TURN, 'kept: You are welcome.'],
    // What it prints of what was kept is of its own process.
    again: [TURN, TURN, TURN, 'kept: '],
    once: ['kept Hello, Ada.', 'kept You are welcome.'],
  },
  {
    example: page.ROW,
    lines: ['run-1: running', 'run-1: completed', 'calls: 2, in: 1800, out: 390, cost: $0.0061, rows: 1'],
  },
  {
    example: page.RESOLUTION,
    lines: [
      'picked: anthropic/haiku, from env',
      ...['anthropic/haiku: accepted', 'house/own: accepted', 'openai/gpt-9: refused', 'rm -rf: refused'],
    ],
  },
  {
    example: page.SANDBOX,
    lines: ['text_delta', 'text_delta', 'tool_call', 'tool_result'].map((type) =>
      expect.stringContaining(type),
    ),
  },
  { example: own.COUNT_TO_ONE, lines: ['completed all evals pass 1'], once: ['added'] },
  {
    example: own.MEASURED,
    lines: ["{ name: 'Ada' } 1", "{ name: 'Grace' } 0"],
    once: ['greeted Ada'],
  },
  { example: own.WHICH_MODEL, lines: ['env openai/gpt-4.1-mini'] },
  {
    example: own.HANDLER,
    lines: ['tax:handled-1:0 session.run.started llm_call Hello, Ada. session.run.completed'],
  },
  { example: own.KEPT, lines: ['Call 12345. session.run.completed'] },
  {
    example: own.PRODUCED,
    lines: ['session.run.started hello ProducerLost session.run.failed'],
    once: ['asked'],
  },
  { example: own.BACKENDS, lines: ['Hello.'] },
  { example: own.ROWS, lines: ['tax:session-7:0 running 0', 'llm_call', 'tax:session-7:0 completed 1'] },
];

const KEPT = EXPECTED.findIndex(({ example }) => example === own.KEPT);

let ran: Group;

beforeAll(async () => {
  ran = await runTwice(EXPECTED.map(({ example }) => example));
}, 300_000);

describe('an example', () => {
  it.each(
    EXPECTED.map(({ example: { page, at }, ...rest }, number) => {
      const place = typeof at === 'string' ? at.trim() : `line ${at.line}`;
      return [place, page, number, rest] as const;
    }),
  )(
    '[TG-20] at %s of %s gives its answer in a second process after the first was killed, and does nothing again later',
    (_at, _page, number, { lines, again = lines, once = [], repeats = [] }) => {
      const { stop } = (EXPECTED[number] as Expected).example;
      const example = ran.examples[number] as Group['examples'][number];
      expect(example.first.state).toBe(stop === undefined ? 'done' : `killed at ${stop}`);
      expect(example.second).toMatchObject({ state: 'done', lines });
      expect(example.again).toEqual({ state: 'done', lines: again, did: repeats });
      expect(once.map(example.count)).toEqual(once.map(() => 1));
    },
  );

  it('[TG-14] keeps a message again under the same key, if its process died before it was told that', () => {
    const { first, second, again } = ran.examples[KEPT] as Group['examples'][number];
    const kept = (did: readonly string[]) => did.filter((effect) => effect.startsWith('kept'));
    expect(kept(first.did)).toEqual(['kept keeping-1:chat:keeping-1:0:end Call ####.']);
    expect([kept(second.did), again.did]).toEqual([kept(first.did), []]);
  });

  it('has written nothing to standard error', () => {
    expect(ran.errors).toEqual(['', '']);
  });
});
