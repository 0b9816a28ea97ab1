/** Causes in the log of a real thread, as its events and its story have them. */
import { describe, expect, it } from '@jest/globals';
import { INSTRUCTIONS } from '../../src/core/context/summary.ts';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, callsMany, fails, type ScriptStep, says, scriptedModel } from '../../src/testing/index.ts';
import { agentOf } from '../support/agent-of.ts';
import { eventually, type TestRuntime, testRuntime } from '../support/runtime.ts';
import { collect } from './golden.ts';

const log = ({ store }: TestRuntime, thread: string) => store.events.read(thread, 0, 10_000);

/** Sentences of these kinds, without their times. */
async function story({ client }: TestRuntime, thread: string, ...kinds: string[]): Promise<string[]> {
  const rows = await collect(client.events(thread, { as: 'story', follow: false }));
  return rows
    .filter(({ event: { kind } }) => kinds.includes(kind))
    .map(({ event: { line } }) => line.replace(/\d[\d.]* (ms|s)\b/g, '<time>'));
}

describe('the cause of what a thread did', () => {
  it('names the model that is asked instead of another, and why that failed', async () => {
    const first = scriptedModel([
      fails({ status: 500, message: 'overloaded', retryAfter: 0 }),
      fails({ status: 401, message: 'no key' }),
    ]);
    const second = scriptedModel([says('here')]);
    const runtime = await testRuntime({ registry: agentOf({ a: { script: first }, b: { script: second } }) });
    const thread = await runtime.start('go');
    const events = await log(runtime, thread);
    expect(eventsOf(events, 'model.called').map(({ data }) => data.insteadOf)).toEqual([
      undefined,
      undefined,
      { model: 'a', code: 'auth_error' },
    ]);
    expect(eventsOf(events, 'model.failed').map(({ data }) => data.fallback)).toEqual([undefined, true]);
    expect(await story(runtime, thread, 'retry', 'fallback', 'error')).toEqual([
      '"a" failed (server_error, HTTP 500): overloaded. It is asked again at once.',
      expect.stringMatching(/^"a" failed \(auth_error, HTTP 401\): no key\. .*The next model is asked\.$/),
      'Step 1 asks the model "b" instead of "a" (auth_error).',
    ]);
  });

  it('says what was too much for a history, and why no model wrote its summary', async () => {
    let summaries = 0;
    const model = scriptedModel(({ messages }): ScriptStep => {
      if (messages[0]?.content !== INSTRUCTIONS) return says(`re: ${messages.at(-1)?.content}`);
      summaries += 1;
      return summaries === 1 ? says('a summary') : fails({ status: 400, message: 'no' });
    });
    const guards = { compaction: { thresholdMessages: 8, retainRecentMessages: 4 } };
    const runtime = await testRuntime({ model, agent: { guards } });
    const thread = await runtime.start('word 1');
    for (let n = 2; n <= 9; n++) await runtime.say(thread, `word ${n}`);
    const told = eventsOf(await log(runtime, thread), 'context.compacted').map(({ data }) => data);
    expect(told).toMatchObject([
      { reason: 'messages', size: 10, limit: 8 },
      { reason: 'messages', limit: 8, fallback: true, because: 'failed' },
    ]);
    expect(told[0]).not.toHaveProperty('because');
    expect((await story(runtime, thread, 'compaction')).filter((line) => line.startsWith('A '))).toEqual([
      'A summary replaces 6 older messages: there were 10 messages, more than 8.',
      expect.stringMatching(/more than 8\. It is an excerpt: the model that was asked for it failed\.$/),
    ]);
  });

  it('says how much room a window had for what it leaves out, and when no window is known', async () => {
    const long = (n: number) => `word ${n} `.padEnd(400, 'x');
    const script = () => scriptedModel(({ messages }) => says(String(messages.at(-1)?.content)));
    const capabilities = { maxContextTokens: 1200, maxOutputTokens: 300 };
    const runtime = await testRuntime({ registry: agentOf({ small: { script: script(), capabilities } }) });
    const thread = await runtime.start(long(0));
    for (let n = 1; n < 5; n++) await runtime.say(thread, long(n));
    const [told] = eventsOf(await log(runtime, thread), 'context.trimmed').map(({ data }) => data);
    expect(told?.room).toBeGreaterThan(300);
    expect(told?.room).toBeLessThan(900);
    expect(told).not.toHaveProperty('assumed');
    const [first] = await story(runtime, thread, 'trim');
    expect(first).toMatch(
      /^\d+ older messages? (was|were) left out of the request of step \d: the window of the model has room for about \d+ tokens of messages\.$/,
    );

    const unbound = await testRuntime({ registry: agentOf({ unknown: { script: script() } }) });
    const other = await unbound.start('w'.repeat(600_000));
    await unbound.say(other, 'and now?');
    expect(eventsOf(await log(unbound, other), 'context.trimmed').map(({ data }) => data)).toEqual([
      { messages: 2, room: 128_000, assumed: true },
    ]);
  });

  it('says at how many calls a loop ends the turn, and which calls the end has cut off', async () => {
    const look = defineTool({
      description: 'looks',
      quick: true,
      execute: () => ({ status: 'success', result: 'same' }),
    });
    const model = scriptedModel([callsMany(Array.from({ length: 10 }, () => ({ name: 'look' })))]);
    const runtime = await testRuntime({ model, tools: { look }, agent: { guards: { loops: true } } });
    const thread = await runtime.start('go');
    const events = await log(runtime, thread);
    expect(eventsOf(events, 'loop.warning').map(({ data }) => [data.count, data.limit])).toEqual([
      [4, 8],
      [5, 8],
      [6, 8],
      [7, 8],
    ]);
    expect((await story(runtime, thread, 'loop')).at(-1)).toBe(
      'The model has called "look" 8 times in a row with the same arguments: the turn ends.',
    );
    expect(eventsOf(events, 'tool.result').map(({ data }) => data.settled)).toEqual([
      ...Array(8).fill(undefined),
      'ended',
      'ended',
    ]);
    expect((await story(runtime, thread, 'tool')).slice(-2)).toEqual(
      Array(2).fill('"look" has no result: the turn ended before.'),
    );
  });

  it('says how long a request stood in its model’s line, and that the definition held it up', async () => {
    let gate = Promise.withResolvers<void>();
    const script = scriptedModel(async ({ messages }) => {
      if (messages.at(-1)?.content === 'holds') await gate.promise;
      return says('done');
    });
    const runtime = await testRuntime({ registry: agentOf({ narrow: { script, concurrency: 1 } }) });
    const begin = async (content: string) =>
      (await runtime.client.startThread({ agent: 'helper', messages: [{ content }] })).threadId;
    const asked = (thread: string) =>
      eventually(
        'it is asked',
        async () => eventsOf(await log(runtime, thread), 'model.called').length === 1,
      );
    const first = await begin('holds');
    await asked(first);
    const second = await begin('stands');
    await eventually('it stands in the line', async () => {
      const [step] = eventsOf(await log(runtime, second), 'step.started');
      return step !== undefined && Date.now() - step.at / 1000 > 400;
    });
    gate.resolve();
    await runtime.client.waitForIdle(second);
    const [called] = eventsOf(await log(runtime, second), 'model.called');
    expect(called?.data.heldMs).toBeGreaterThanOrEqual(100);
    expect(await story(runtime, second, 'limit')).toEqual([
      'Step 1 asks the model "narrow", after <time> in its line.',
    ]);

    gate = Promise.withResolvers();
    const third = await begin('holds');
    await asked(third);
    const fourth = await begin('is held');
    await eventually('it is held', async () => eventsOf(await log(runtime, fourth), 'model.held').length > 0);
    gate.resolve();
    await runtime.client.waitForIdle(fourth);
    expect(eventsOf(await log(runtime, fourth), 'model.held')[0]?.data).toMatchObject({
      by: 'concurrency',
      refusals: 0,
    });
    expect((await story(runtime, fourth, 'limit'))[0]).toBe(
      '"narrow" takes no request for now: as many requests as its definition allows are running (concurrency). It is asked again in <time>.',
    );
  });

  it('says how long a step and a tool have waited for a worker, if it was long', async () => {
    const gates = { first: Promise.withResolvers<void>(), second: Promise.withResolvers<void>() };
    const model = scriptedModel(async ({ messages }) => {
      const last = messages.at(-1);
      if (last?.role === 'tool') return says('done');
      if (last?.content !== 'first') {
        await gates.second.promise;
        return says('done');
      }
      await gates.first.promise;
      return calls('work');
    });
    const work = defineTool({
      description: 'works',
      activity: 'own',
      execute: () => ({ status: 'success', result: 'ok' }),
    });
    const runtime = await testRuntime({
      model,
      tools: { work },
      fresh: true,
      configuration: { maxConcurrentActivities: 1 },
    });
    const begin = async (content: string) =>
      (await runtime.client.startThread({ agent: 'helper', messages: [{ content }] })).threadId;
    /** Resolves once an activity of the thread has stood in Temporal's queue for a while. */
    const untilQueued = (thread: string) =>
      eventually('it stands in the queue', async () => {
        const { raw } = await runtime.client.temporal.workflow.getHandle(`thread/${thread}`).describe();
        const [pending] = raw.pendingActivities ?? [];
        const since = Number(pending?.scheduledTime?.seconds ?? Number.POSITIVE_INFINITY) * 1000;
        return pending?.state === 1 && Date.now() - since > 1500;
      });
    const first = await begin('first');
    await eventually(
      'it is asked',
      async () => eventsOf(await log(runtime, first), 'model.called').length === 1,
    );
    const second = await begin('second');
    await untilQueued(second);
    gates.first.resolve();
    await eventually(
      'it is asked',
      async () => eventsOf(await log(runtime, second), 'model.called').length === 1,
    );
    await untilQueued(first);
    gates.second.resolve();
    await runtime.client.waitForIdle(first);
    await runtime.client.waitForIdle(second);
    const queued = async (thread: string, kind: 'step.started' | 'tool.started') =>
      eventsOf(await log(runtime, thread), kind).map(({ data }) => data.queuedMs ?? 0);
    expect((await queued(second, 'step.started'))[0]).toBeGreaterThan(400);
    expect((await queued(first, 'tool.started'))[0]).toBeGreaterThan(400);
    expect(await story(runtime, second, 'wait')).toEqual(['Step 1 waited <time> for a free worker.']);
    expect((await story(runtime, first, 'wait')).filter((line) => line.startsWith('"'))).toEqual([
      '"work" waited <time> for a free worker.',
    ]);
  });
});
