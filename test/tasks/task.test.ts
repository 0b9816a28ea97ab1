/** Tasks on the real engine: the loop, its budgets, its failures, its questions. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { KnowledgeRequirement } from '../../src/core/task/knowledge.ts';
import { defineTask } from '../../src/definitions/index.ts';
import { eventually } from '../support/runtime.ts';
import { taskRuntime } from './task-runtime.ts';

interface Counted {
  readonly count: number;
}

/** Counts its successful acts in its history. */
const counting = (goal: number, act: () => unknown = () => 'added') =>
  defineTask<Counted, { type: string }>({
    observe: ({ history }) => ({ count: history.filter(({ actionOutcome }) => actionOutcome?.ok).length }),
    validate: ({ state }) => [
      { id: 'goal', passed: state.count >= goal, score: Math.min(1, state.count / goal) },
    ],
    decide: () => ({ kind: 'act', action: { type: 'add' } }),
    act,
  });

describe('a task', () => {
  it('[TG-03] observes, validates, decides and acts until its evals pass, with events in that order', async () => {
    const { client, store } = await taskRuntime({ count: counting(1) });
    const { id } = await client.tasks.start({ task: 'count', intent: 'count-to-one', inputs: { to: 1 } });
    const ended = await client.tasks.wait(id);
    expect(ended).toMatchObject({
      status: 'completed',
      steps: 1,
      verdict: { stoppedBy: 'stop-policy', pass: true, score: 1 },
      spec: { intent: 'count-to-one', inputs: { to: 1 } },
    });
    const [first, last] = await client.tasks.listSteps(id);
    expect(first).toMatchObject({
      state: { count: 0 },
      decision: { kind: 'act' },
      outcome: { ok: true, result: 'added' },
    });
    expect(last).toMatchObject({ state: { count: 1 }, decision: null });
    const told = (await store.events.read(`task/${id}`, 0)).map(({ type }) => type);
    expect(told).toEqual([
      ...['task.created', 'task.observed', 'task.decided', 'task.acting', 'task.acted'],
      ...['task.observed', 'task.ended', 'thread.terminated'],
    ]);
    const again = await client.tasks.start({ task: 'count', intent: 'count-to-one', inputs: { to: 1 }, id });
    expect(again).toEqual({ id });
    await expect(client.tasks.start({ task: 'count', id, intent: 'another' })).rejects.toMatchObject({
      code: 'ExecutionConflict',
    });
    expect((await client.listThreads()).filter(({ id: each }) => each.includes(id))).toEqual([]);
  });

  it('[TG-18] is the same task if only its labels differ, or what is known already; another requirement is a conflict', async () => {
    const { client } = await taskRuntime({ count: counting(1) });
    const id = randomUUID();
    const ask = (description: string) => ({
      ...{ task: 'count', id, inputs: { to: 1 }, metadata: { requestId: randomUUID(), at: Date.now() } },
      requiredKnowledge: [
        {
          ...{ id: 'budget', description, fallbackPolicy: 'continue_with_caveat' },
          ...{ evidenceIds: [randomUUID()], currentConfidence: Math.random() },
          validUntil: new Date(Date.now() + 60_000).toISOString(),
        } as unknown as KnowledgeRequirement,
      ],
    });
    expect(await client.tasks.start(ask('The budget.'))).toEqual({ id });
    expect(await client.tasks.wait(id)).toMatchObject({ status: 'completed' });
    expect(await client.tasks.start(ask('The budget.'))).toEqual({ id });
    await expect(client.tasks.start(ask('The colour.'))).rejects.toMatchObject({ code: 'ExecutionConflict' });
  });

  it('[TG-06] does not pass if an eval fails without a severity: its adapter decides', async () => {
    const reviewed = defineTask({
      observe: () => ({ length: 3 }),
      validate: ({ state }) => [{ id: 'long-enough', passed: (state as { length: number }).length >= 60 }],
      decide: () => ({ kind: 'stop', pass: false, reason: 'too short', score: 0.1 }),
    });
    const { client } = await taskRuntime({ reviewed });
    const { id } = await client.tasks.start({ task: 'reviewed' });
    expect(await client.tasks.wait(id)).toMatchObject({
      status: 'failed',
      steps: 0,
      verdict: { stoppedBy: 'policy', pass: false, reason: 'too short', score: 0.1 },
    });
  });

  it('[TG-07] ends by its budget of steps, cost or time, with the exhausted limit and the spent amounts', async () => {
    const endless = defineTask({
      observe: ({ history }) => ({ count: history.length }),
      decide: () => ({ kind: 'act', action: 'more' }),
      act: () => 'done',
      getActionCostUsd: () => 0.25,
    });
    const slow = defineTask({
      observe: () => 'slow',
      decide: () => ({ kind: 'act', action: 'wait' }),
      act: (_, { abortSignal }) =>
        new Promise((_resolve, reject) => abortSignal.addEventListener('abort', reject)),
    });
    const dear = defineTask({
      observe: () => 'same',
      decide: () => ({ kind: 'act', action: 'again' }),
      act: () => 'done',
      getActionCostUsd: () => 0.1,
    });
    const { client } = await taskRuntime({ endless, slow, dear });
    const start = (task: string, budget: object) => client.tasks.start({ task, budget });
    const [steps, cost, time, tenths] = await Promise.all([
      start('endless', { maxSteps: 2 }),
      start('endless', { maxCostUsd: 0.75 }),
      start('slow', { maxWallMs: 400 }),
      start('dear', { maxCostUsd: 0.8, maxSteps: 20 }),
    ]);
    expect(await client.tasks.wait(steps.id)).toMatchObject({
      status: 'failed',
      steps: 2,
      spentCostUsd: 0.5,
      verdict: { stoppedBy: 'budget', limit: 'maxSteps', reason: 'budget exhausted: maxSteps=2' },
    });
    expect(await client.tasks.wait(cost.id)).toMatchObject({
      steps: 3,
      spentCostUsd: 0.75,
      verdict: { limit: 'maxCostUsd' },
    });
    // Sums of decimal fractions would let a ninth begin.
    expect(await client.tasks.wait(tenths.id)).toMatchObject({
      steps: 8,
      spentCostUsd: 0.8,
      verdict: { limit: 'maxCostUsd' },
    });
    expect(await client.tasks.wait(time.id)).toMatchObject({
      status: 'failed',
      verdict: { stoppedBy: 'budget', limit: 'maxWallMs' },
    });
  });

  it('[TG-08] continues after an act that threw, or fails, as defined', async () => {
    let tried = 0;
    const thrower = () => {
      tried += 1;
      if (tried === 1) throw new Error('not yet');
      return 'added';
    };
    const stopping = defineTask({
      observe: () => 'x',
      decide: () => ({ kind: 'act', action: 'go' }),
      act: () => {
        throw new Error('broken');
      },
      onActError: 'stop',
    });
    const { client } = await taskRuntime({ goes_on: counting(1, thrower), stopping });
    const [on, off] = await Promise.all([
      client.tasks.start({ task: 'goes_on' }),
      client.tasks.start({ task: 'stopping' }),
    ]);
    expect(await client.tasks.wait(on.id)).toMatchObject({ status: 'completed', steps: 2 });
    const [failed] = await client.tasks.listSteps(on.id);
    expect(failed?.outcome).toMatchObject({ ok: false, error: 'not yet' });
    expect(await client.tasks.wait(off.id)).toMatchObject({
      status: 'failed',
      verdict: { stoppedBy: 'runtime-error', reason: 'act failed: broken' },
      errors: [{ phase: 'act', stepIndex: 0, message: 'broken' }],
    });
  });

  it('[TG-09] is aborted during an act, whose signal fires, and ends once', async () => {
    let begun = false;
    let aborted = false;
    const acting = defineTask({
      observe: () => 'x',
      decide: () => ({ kind: 'act', action: 'long' }),
      act: (_, { abortSignal }) => {
        begun = true;
        return new Promise((_resolve, reject) =>
          abortSignal.addEventListener('abort', () => {
            aborted = true;
            reject(abortSignal.reason);
          }),
        );
      },
    });
    const { client, store } = await taskRuntime({ acting });
    const { id } = await client.tasks.start({ task: 'acting' });
    await eventually('the act to begin', () => begun);
    await client.tasks.abort(id, 'enough');
    expect(await client.tasks.wait(id)).toMatchObject({
      status: 'aborted',
      verdict: { stoppedBy: 'abort', pass: false, reason: 'enough' },
    });
    await eventually('its signal', () => aborted);
    const log = await store.events.read(`task/${id}`, 0);
    expect(log.filter(({ type }) => type === 'task.ended')).toHaveLength(1);
    await client.tasks.abort(id);
  });

  it('ends with the failed phase, and with an error for an unknown name', async () => {
    const broken = defineTask({
      observe: () => 'x',
      validate: () => [{ id: 'bad' } as never],
      decide: () => ({ kind: 'stop', pass: true, reason: '' }),
    });
    const { client } = await taskRuntime({ broken });
    const [invalid, unknown] = await Promise.all([
      client.tasks.start({ task: 'broken' }),
      client.tasks.start({ task: 'nobody' }),
    ]);
    expect(await client.tasks.wait(invalid.id)).toMatchObject({
      status: 'failed',
      errors: [{ phase: 'validate', stepIndex: 0 }],
      verdict: { stoppedBy: 'runtime-error' },
    });
    expect(await client.tasks.wait(unknown.id)).toMatchObject({
      status: 'failed',
      verdict: { reason: expect.stringContaining('no task "nobody"') },
    });
  });
});

describe('a question of a task', () => {
  it("[TG-05] waits in no process, across a worker's end, and its answer is the outcome of the step", async () => {
    const acts: unknown[] = [];
    const asking = defineTask({
      observe: ({ history }) => ({
        steps: history.length,
        said: history.map(({ actionOutcome }) => actionOutcome?.result ?? null),
      }),
      decide: ({ stepIndex, history }) => {
        if (stepIndex === 0) return { kind: 'act', action: 'first' };
        if (stepIndex === 1)
          return { kind: 'ask', question: 'Which colour?', data: { choices: ['red', 'blue'] } };
        return { kind: 'stop', pass: true, reason: 'asked', outcome: history[1]?.actionOutcome?.result };
      },
      act: (action) => {
        acts.push(action);
        return 'done';
      },
    });
    const { client } = await taskRuntime({ asking });
    const { id } = await client.tasks.start({ task: 'asking' });
    expect(await client.tasks.wait(id)).toMatchObject({ status: 'waiting', steps: 1 });
    const [wait] = await client.listWaits({ threadId: `task/${id}` });
    expect(wait).toMatchObject({
      kind: 'question',
      summary: 'Which colour?',
      data: { choices: ['red', 'blue'] },
    });
    expect(await client.answerWait(wait?.id ?? '', { value: 'red' })).toEqual({ outcome: 'taken' });
    const over = await eventually('its end', async () => {
      const found = await client.tasks.get(id);
      return found.endedAt !== null && found;
    });
    expect(over).toMatchObject({ status: 'completed', steps: 2, verdict: { outcome: 'red' } });
    expect(acts).toEqual(['first']);
  });
});
