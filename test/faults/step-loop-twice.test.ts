/**
 * Two attempts at the activity of a step are alive at once: the heartbeats of the first are lost, while its worker
 * lives. The second goes on from the store; whatever the first does then, the thread is that of an undisturbed run.
 */
import { describe, expect, it } from '@jest/globals';
import type { FaultPoint } from '../../src/activities/base/dependencies.ts';
import { defineTool } from '../../src/definitions/index.ts';
import type { ThreadStore } from '../../src/store/store.ts';
import { calls, callsMany, says, scriptedModel } from '../../src/testing/index.ts';
import { loseAttempt } from '../support/lost-activities.ts';
import { begin } from '../support/operator.ts';
import { eventually, type TestRuntime, testRuntime, testStore } from '../support/runtime.ts';

/** Attempts stay at a point, in the order in which they reach it, until they are released. */
function stays(point: FaultPoint, { after }: { readonly after: number }) {
  const held: (() => void)[] = [];
  let reached = 0;
  return {
    held,
    async probe(at: FaultPoint) {
      if (at !== point || ++reached <= after || held.length > 0) return;
      const gate = Promise.withResolvers<void>();
      held.push(gate.resolve);
      await gate.promise;
    },
  };
}

/** Tools that note each begin of a body; the first body of call `at` (from 1) stays until it is released. */
function noting(options: { readonly quick?: boolean; readonly idempotent?: boolean }, at = 0) {
  const bodies: string[] = [];
  const gate = Promise.withResolvers<void>();
  const tool = defineTool({
    description: 'notes',
    ...options,
    execute: async (state) => {
      const key = String(state.idempotencyKey);
      bodies.push(key);
      if (bodies.length === at) await gate.promise;
      return { status: 'success', result: `noted ${new Set(bodies).size}` };
    },
  });
  return { tool, bodies, release: gate.resolve };
}

const lose = ({ client: { temporal: client } }: TestRuntime, thread: string) =>
  loseAttempt({ client, workflowId: `thread/${thread}`, activity: 'modelStep' });

/** The calls that attempts have asked the store to begin. */
function beginsOf(store: ThreadStore): () => readonly string[] {
  const calls = store.toolCalls as {
    -readonly [Name in keyof typeof store.toolCalls]: (typeof store.toolCalls)[Name];
  };
  const { begin: original } = calls;
  const asked: string[] = [];
  calls.begin = async (command) => {
    try {
      return await original(command);
    } finally {
      asked.push(`${command.step}:${command.index}`);
    }
  };
  return () => asked;
}

const STEPS = 4;
const model = () =>
  scriptedModel(({ messages }) =>
    messages.filter(({ role }) => role === 'tool').length < STEPS ? calls('note') : says('done'),
  );
const UNDISTURBED = [
  'user: go',
  ...Array.from({ length: STEPS }, (_, at) => [
    'assistant:  -> note',
    `tool note success: noted ${at + 1}`,
  ]).flat(),
  'assistant: done',
];

/** The same if the call after `after` others has an unknown outcome; the next ones are counted without it. */
function withUnknown(lines: readonly string[], after: number) {
  let seen = 0;
  return lines.map((line) => {
    if (!line.startsWith('tool note')) return line;
    seen += 1;
    if (seen <= after) return line;
    return seen === after + 1 ? expect.stringContaining('unknown') : `tool note success: noted ${seen - 1}`;
  });
}

const PLACES = [
  { point: 'step_begun', after: 2 },
  { point: 'model_answered', after: 2 },
  { point: 'model_committed', after: 2 },
  { point: 'tool_committed', after: 2 },
  { point: 'status_committed', after: 0 },
] as const;

const MODES: readonly { readonly quick: true; readonly idempotent?: false }[] = [
  { quick: true },
  { quick: true, idempotent: false },
];

describe.each(MODES)('with a tool %p', (mode) => {
  it.each(PLACES)(
    'an attempt that stays at $point, is replaced, and goes on once the other has ended, changes nothing',
    async ({ point, after }) => {
      const { held, probe } = stays(point, { after });
      const { tool, bodies } = noting(mode);
      const runtime = await testRuntime({ model: model(), tools: { note: tool }, probe, fresh: true });
      const thread = await begin(runtime, 'go');
      await eventually('an attempt stays', () => held.length === 1);
      await lose(runtime, thread);
      await runtime.client.waitForIdle(thread);
      held[0]?.();
      await runtime.say(thread, 'more');
      // A call begins with its answer. The other attempt runs an idempotent one again, and knows no outcome of another.
      const begun = point === 'model_committed';
      const isUnknown = begun && mode.idempotent === false;
      await eventually(
        'both have run the call',
        () => bodies.length === (begun && !isUnknown ? STEPS + 1 : STEPS),
      );
      expect(new Set(bodies).size).toBe(STEPS);
      const transcript = isUnknown ? withUnknown(UNDISTURBED, after) : UNDISTURBED;
      expect(await runtime.transcript(thread)).toEqual([...transcript, 'user: more', 'assistant: done']);
      const events = await runtime.store.events.read(thread, 0);
      expect(events.filter(({ type }) => type === 'step.committed')).toHaveLength(STEPS + 2);
      expect(events.filter(({ type }) => type === 'execution.ended')).toHaveLength(2);
    },
  );

  it('an attempt that goes on while the other runs the call after it leaves that call alone', async () => {
    const { held, probe } = stays('tool_committed', { after: 1 });
    const { tool, bodies, release } = noting(mode, 3);
    const store = await testStore();
    const asked = beginsOf(store);
    const three = callsMany(Array.from({ length: 3 }, () => ({ name: 'note' })));
    const runtime = await testRuntime({
      model: scriptedModel([three, says('done')]),
      tools: { note: tool },
      probe,
      store,
    });
    const thread = await begin(runtime, 'go');
    await eventually('an attempt stays', () => held.length === 1);
    await lose(runtime, thread);
    await eventually('the other attempt runs the call', () => bodies.length === 3);
    held[0]?.();
    await eventually(
      'the first attempt has asked for the call',
      () => asked().filter((call) => call === '1:2').length === 2,
    );
    release();
    await runtime.client.waitForIdle(thread);
    expect(await runtime.transcript(thread)).toEqual([
      ...['user: go', 'assistant:  -> note, note, note'],
      ...['tool note success: noted 1', 'tool note success: noted 2', 'tool note success: noted 3'],
      'assistant: done',
    ]);
  });
});
