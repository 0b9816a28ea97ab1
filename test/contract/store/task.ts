/** Tasks (task/task-record.ts): opened once, observed and decided once, acted at most once, ended once. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { TaskVerdict } from '../../../src/core/task/control.ts';
import { eventually } from '../../support/eventually.ts';
import type { Stores } from '../store-contract.ts';

const PASSED: TaskVerdict = { stoppedBy: 'policy', pass: true, reason: 'done' };

export function registerTask(given: () => Stores): void {
  const tasks = () => given().store.tasks;
  const eventsOf = async (threadId: string) =>
    (await given().store.events.read(threadId, 0)).map(({ type }) => type);

  /** An open task, with its run. */
  async function openTask({ name = 'count', runId = 'run-1', userId = null as string | null } = {}) {
    const id = randomUUID();
    const run = { threadId: `task/${id}`, runId };
    const start = { name, userId, scenarioId: null, requirements: [], preflight: 'over' as const };
    const spec = { id, intent: 'count', inputs: { to: 3 } };
    const open = { ...run, mustExist: false, manifest: null, start: { ...start, spec } };
    expect(await tasks().open(open)).toMatchObject({ kind: 'open', task: { id, status: 'running' } });
    return { id, run, open };
  }

  const observed = (step: number) => ({
    ...{ step, state: '{"count":0}', fingerprint: 'f', score: 0.5 },
    evals: [{ id: 'goal', passed: false }],
  });

  async function decided(step = 0, action = 'a') {
    const task = await openTask();
    await tasks().saveObservation({ ...task.run, ...observed(step) });
    await tasks().saveDecision({ ...task.run, step, decision: { kind: 'act', action: 'go' }, action });
    return task;
  }

  describe('a task', () => {
    it('is opened once, and a replaced run writes nothing', async () => {
      const { id, run, open } = await openTask();
      await tasks().open(open);
      expect(await eventsOf(run.threadId)).toEqual(['task.created']);
      await tasks().open({ ...run, runId: 'run-2', mustExist: true, manifest: 'hash' });
      expect(await eventsOf(run.threadId)).toEqual(['task.created', 'task.manifest']);
      await expect(tasks().saveObservation({ ...run, ...observed(0) })).rejects.toThrow(/replaced/);
      expect(await tasks().get(id)).toMatchObject({ manifest: 'hash', spec: { inputs: { to: 3 } } });
      await expect(
        tasks().open({ threadId: `task/${randomUUID()}`, runId: 'r', mustExist: true, manifest: null }),
      ).rejects.toMatchObject({ code: 'StoreMismatch' });
    });

    it('stores one observation and one decision per step; repeating them changes nothing', async () => {
      const { run } = await decided();
      await tasks().saveObservation({ ...run, ...observed(0), state: '{"count":9}' });
      await tasks().saveDecision({
        ...run,
        step: 0,
        decision: { kind: 'act', action: 'other' },
        action: 'b',
      });
      const loop = await tasks().readLoop(run.threadId, 5);
      expect(loop).toMatchObject({
        steps: [{ state: { count: 0 }, decision: { kind: 'act', action: 'go' }, act: 'scheduled' }],
        measured: [{ fingerprint: 'f', score: 0.5 }],
        actions: ['a'],
      });
      expect(await eventsOf(run.threadId)).toEqual(['task.created', 'task.observed', 'task.decided']);
    });

    it('[TG-20] acts at most once: a started act is unknown to another attempt, and its late end is dropped', async () => {
      const { id, run } = await decided();
      const act = { ...run, step: 0, again: false };
      const begun = await tasks().beginAct({ ...act, attempt: 'one' });
      expect(begun).toMatchObject({ kind: 'run' });
      expect(await tasks().beginAct({ ...act, attempt: 'one' })).toEqual(begun);
      expect(await tasks().beginAct({ ...act, attempt: 'two' })).toEqual({ kind: 'settled' });
      const outcome = { ok: true, costUsd: 1 };
      await tasks().endAct({ threadId: run.threadId, step: 0, attempt: 'one', outcome });
      expect(await tasks().get(id)).toMatchObject({ steps: 1, spentCostUsd: 0 });
      expect((await tasks().listSteps(id))[0]).toMatchObject({
        outcome: { ok: false, code: 'ActOutcomeUnknown' },
      });
    });

    it('acts again if it may, under the same key, and its cost counts once', async () => {
      const { id, run } = await decided();
      const act = { ...run, step: 0, again: true };
      const first = await tasks().beginAct({ ...act, attempt: 'one' });
      expect(first).toMatchObject({ kind: 'run', repeated: false });
      expect(await tasks().beginAct({ ...act, attempt: 'two' })).toEqual({ ...first, repeated: true });
      const end = { threadId: run.threadId, step: 0, outcome: { ok: true, costUsd: 0.25 } };
      for (const attempt of ['one', 'two', 'two']) await tasks().endAct({ ...end, attempt });
      expect(await tasks().get(id)).toMatchObject({ steps: 1, spentCostUsd: 0.25 });
    });

    it('keeps the key of an action until it succeeds', async () => {
      const { run } = await decided();
      const keys: unknown[] = [];
      for (const [step, ok] of [false, true, true].entries()) {
        await tasks().saveObservation({ ...run, ...observed(step) });
        await tasks().saveDecision({ ...run, step, decision: { kind: 'act', action: 'go' }, action: 'a' });
        keys.push(await tasks().beginAct({ ...run, step, attempt: 'one', again: false }));
        await tasks().endAct({ threadId: run.threadId, step, attempt: 'one', outcome: { ok } });
      }
      expect(keys[1]).toEqual(keys[0]);
      expect(keys[2]).not.toEqual(keys[1]);
    });

    it('counts working time, and not waiting time', async () => {
      const { id, run } = await openTask();
      await tasks().rest({ ...run, waits: true });
      const waiting = await tasks().get(id);
      expect(waiting).toMatchObject({ status: 'waiting' });
      const asked = Date.now();
      await eventually('time to go by', () => Date.now() > asked + 5);
      expect((await tasks().get(id))?.wallMs).toBe(waiting?.wallMs);
      await tasks().rest({ ...run, waits: false });
      expect(await tasks().get(id)).toMatchObject({ status: 'running' });
    });

    it('ends once, with everything open: its waits are closed, its act has no result', async () => {
      const { store } = given();
      const { id, run } = await decided();
      await store.waits.open({
        ...{ id: randomUUID(), threadId: run.threadId, key: 'ask:0', kind: 'question', name: 'count' },
        ...{ summary: 'Which?', data: null, blocks: true },
      });
      const ended = await tasks().end({
        ...run,
        verdict: PASSED,
        records: [{ scenarioId: 's' }],
        errors: [],
      });
      expect(ended).toMatchObject({ status: 'completed', verdict: PASSED, records: [{ scenarioId: 's' }] });
      const again = { stoppedBy: 'abort', pass: false, reason: 'late' } as const;
      expect(await tasks().end({ ...run, verdict: again, records: null, errors: [] })).toMatchObject({
        status: 'completed',
      });
      expect(await store.waits.list({ threadId: run.threadId })).toEqual([]);
      expect(await tasks().listSteps(id)).toMatchObject([{ act: 'over', outcome: { code: 'Aborted' } }]);
      expect((await eventsOf(run.threadId)).filter((type) => type === 'task.ended')).toHaveLength(1);
      expect(await tasks().beginAct({ ...run, step: 0, attempt: 'x', again: true })).toEqual({
        kind: 'terminated',
      });
      expect(await tasks().open({ ...run, mustExist: true, manifest: null })).toMatchObject({ kind: 'over' });
    });

    it('appears in paged lists of tasks, and in none of threads', async () => {
      const { store } = given();
      const userId = randomUUID();
      const made: string[] = [];
      for (let n = 0; n < 3; n++) {
        made.unshift((await openTask({ name: `of-${userId}`, userId })).id);
        // The clock of the lists has a resolution of a millisecond.
        const opened = Date.now();
        await eventually('a later millisecond', () => Date.now() > opened);
      }
      const name = `of-${userId}`;
      const page = await tasks().list({ name, limit: 2 });
      const rest = await tasks().list({ name, userId, before: page[1] });
      expect([...page, ...rest].map(({ id }) => id)).toEqual(made);
      expect(await tasks().list({ name, status: 'completed' })).toEqual([]);
      expect(await store.threads.list({ userId })).toEqual([]);
    });

    it('returns an answer until it is read or the task ends', async () => {
      const { store } = given();
      const { run } = await openTask();
      const wait = {
        ...({
          id: randomUUID(),
          threadId: run.threadId,
          key: 'ask:0',
          kind: 'question',
          name: 'count',
        } as const),
        ...{ summary: 'Which?', data: null, blocks: true },
      };
      await store.waits.open(wait);
      await store.waits.answer({ id: wait.id, answer: { value: 1 } });
      const forgotten = async () =>
        (await store.waits.listForgotten(-1000)).some(({ threadId }) => threadId === run.threadId);
      expect(await forgotten()).toBe(true);
      await store.waits.open(wait);
      expect(await forgotten()).toBe(false);
    });
  });
}
