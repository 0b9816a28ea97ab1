/** The names of the page as a layer over tasks: run to the end, or followed. */
import { describe, expect, it } from '@jest/globals';
import type { TaskStep } from '../../src/core/author/task.ts';
import { defineTask } from '../../src/definitions/index.ts';
import { defineAgent, runAgentTask, runAgentTaskStream } from '../../src/faces/tangle/tasks.ts';
import type { RuntimeStreamEvent } from '../../src/projections/task/stream-event.ts';
import { taskRuntime } from './task-runtime.ts';

/** Checks a draft as the page's reviewer does: it must be long enough, and say what it lacks. */
const review = defineTask<{ length: number; saysWhatIsMissing: boolean }, never>({
  observe: ({ task }) => {
    const draft = String(task.inputs?.draft ?? '');
    return { length: draft.length, saysWhatIsMissing: draft.includes('missing') };
  },
  validate: ({ state }) => [
    { id: 'long-enough', passed: state.length >= 60, score: Math.min(1, state.length / 60) },
    { id: 'surfaces-missing', passed: state.saysWhatIsMissing, score: state.saysWhatIsMissing ? 1 : 0 },
  ],
  decide: ({ evals }) => {
    const failing = evals.filter(({ passed }) => !passed).map(({ id }) => id);
    return { kind: 'stop', pass: failing.length === 0, reason: `the draft fails: ${failing.join(', ')}` };
  },
});

describe('runAgentTask', () => {
  it('[TG-31] reviews the draft of another agent: a good draft passes, a bad one fails with its rubric’s reason', async () => {
    const { client } = await taskRuntime({ review });
    const run = (draft: string) =>
      runAgentTask({ client, adapter: 'review', task: { intent: 'review-draft', inputs: { draft } } });
    const good = 'The invoice is complete but for one thing that is missing: the date of delivery.';
    const [passed, failed] = await Promise.all([run(good), run('Fine.')]);
    expect(passed).toMatchObject({
      status: 'completed',
      control: { pass: true, score: 1, stoppedBy: 'stop-policy' },
    });
    expect(failed).toMatchObject({
      status: 'failed',
      control: {
        pass: false,
        reason: 'the draft fails: long-enough, surfaces-missing',
        finalState: { length: 5 },
      },
    });
  });

  it('[TG-03] tells the steps as its adapter reads them in its history, each with the state after it', async () => {
    const histories: (readonly TaskStep[])[] = [];
    const counts = defineTask<{ count: number }, string>({
      observe: ({ history }) => ({ count: history.length }),
      validate: ({ state }) => [{ id: 'counted', passed: state.count > 1, score: state.count / 2 }],
      decide: ({ history }) => {
        histories.push(history);
        return { kind: 'act', action: 'add' };
      },
      act: () => 'added',
      shouldStop: ({ state, history }) => {
        histories.push(history);
        return { stop: state.count > 1, pass: true, reason: 'counted' };
      },
    });
    const { client } = await taskRuntime({ counts });
    const { control } = await runAgentTask({ client, adapter: 'counts', task: { intent: 'count' } });
    expect(control.steps).toMatchObject([
      { index: 0, beforeState: { count: 0 }, afterState: { count: 1 }, actionOutcome: { result: 'added' } },
      { index: 1, beforeState: { count: 1 }, afterState: { count: 2 }, decision: { action: 'add' } },
    ]);
    expect(control.finalState).toEqual({ count: 2 });
    expect(control.steps.map(({ index, startedAt, endedAt }) => ({ index, startedAt, endedAt }))).toEqual(
      histories.at(-1)?.map(({ index, startedAt, endedAt }) => ({ index, startedAt, endedAt })),
    );
  });

  it('yields its events as they occur, and ends at once if its caller aborts', async () => {
    const long = defineTask({
      observe: () => 'x',
      decide: () => ({ kind: 'act', action: 'long' }),
      act: (_, { abortSignal }) =>
        new Promise((_resolve, reject) =>
          abortSignal.addEventListener('abort', () => reject(abortSignal.reason)),
        ),
    });
    const { client } = await taskRuntime({ long });
    const caller = new AbortController();
    const told: RuntimeStreamEvent[] = [];
    const options = { client, adapter: 'long', task: { intent: 'long' }, signal: caller.signal };
    for await (const event of runAgentTaskStream(options)) {
      told.push(event);
      if (event.type === 'control_acting') caller.abort();
    }
    expect(told.map(({ type }) => type).slice(-3)).toEqual(['control_end', 'task_end', 'final']);
    expect(told.at(-1)).toMatchObject({ status: 'aborted', reason: 'aborted by the caller' });
    expect(defineAgent).toBeInstanceOf(Function);
  });
});
