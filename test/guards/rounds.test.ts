/** Rounds of a turn: a root thread that has used them up fails, a subagent is paused until a person releases it. */
import { describe, expect, it } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import type { FaultPoint } from '../../src/activities/base/dependencies.ts';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import { toExecutedTools, toRoundGuard } from '../../src/core/guard/round.ts';
import type { AgentInput } from '../../src/definitions/agent-input.ts';
import type { GuardsInput } from '../../src/definitions/guards-input.ts';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { answerWaitUpdate } from '../../src/workflows/messages.ts';
import { askStatus } from '../support/ask-workflow.ts';
import { eventually, helperRegistry, type TestRuntime, testRuntime } from '../support/runtime.ts';
import { cast, childrenOf, familyRuntime } from '../support/subagent-project.ts';

const look = defineTool({
  description: 'looks',
  quick: true,
  execute: () => ({ status: 'success', result: 'seen' }),
});
const LEAST = { guards: { rounds: { max: 10 } } } satisfies { guards: GuardsInput };
const EXHAUSTED = { status: 'failed', lastError: { code: 'RoundsExhausted' } };
const times = <T>(count: number, step: T): T[] => Array.from({ length: count }, () => step);

describe('rounds', () => {
  it('[AX-100] have a default, and take any maximum', () => {
    expect([{}, { max: 1 }, { max: 77 }, { max: 500 }].map(toRoundGuard)).toEqual(
      [30, 1, 77, 500].map((max) => ({ max })),
    );
  });

  it('the last ten called tools are shown in order of first call', () => {
    const names = 'a b c d e f g h i j k l a b'.split(' ');
    expect(toExecutedTools(names)).toEqual('c d e f g h i j k l'.split(' '));
    expect(toExecutedTools(['b', 'a', 'b'])).toEqual(['b', 'a']);
  });

  it('[AX-03] a root thread fails after the last round, with its work kept', async () => {
    const model = scriptedModel([...times(10, calls('look')), says('a new start')]);
    const runtime = await testRuntime({ model, tools: { look }, agent: LEAST });
    const thread = await runtime.start('go');
    expect(await runtime.client.getThread(thread)).toMatchObject(EXHAUSTED);
    expect(model.requests).toHaveLength(10);
    const said = await runtime.transcript(thread);
    expect(said.filter((line) => line === 'tool look success: seen')).toHaveLength(10);
    await runtime.say(thread, 'go on');
    expect((await runtime.transcript(thread)).at(-1)).toBe('assistant: a new start');
    expect(await runtime.client.getThread(thread)).toMatchObject({ status: 'idle', lastError: null });
  });

  it('a message from outside resets the count, even during a turn', async () => {
    const gate = Promise.withResolvers<void>();
    const hold = defineTool({
      description: 'holds',
      execute: async () => {
        await gate.promise;
        return { status: 'success', result: 'held' };
      },
    });
    const model = scriptedModel([calls('hold'), ...times(10, calls('look'))]);
    const runtime = await testRuntime({ model, tools: { look, hold }, agent: LEAST });
    const { threadId } = await runtime.client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
    await eventually('the tool runs', async () =>
      (await runtime.store.events.read(threadId, 0)).some(({ type }) => type === 'tool.started'),
    );
    await runtime.client.queueMessage(threadId, { content: 'hurry' });
    gate.resolve();
    await runtime.client.waitForIdle(threadId);
    expect(await runtime.client.getThread(threadId)).toMatchObject(EXHAUSTED);
    expect(model.requests).toHaveLength(11);
  });

  it('[AX-100] are not limited by default; a prompt overrides its agent', async () => {
    const free = scriptedModel([...times(12, calls('look')), says('done')]);
    const runtime = await testRuntime({ model: free, tools: { look } });
    expect(await runtime.client.getThread(await runtime.start('go'))).toMatchObject({ status: 'idle' });
    const model = scriptedModel(times(10, calls('look')));
    const agent = { guards: { rounds: { max: 120 } } };
    const strict = await testRuntime({ model, tools: { look }, agent, prompt: LEAST });
    expect(await strict.client.getThread(await strict.start('go'))).toMatchObject(EXHAUSTED);
  });

  it('[AX-101] definitions changed during an execution apply from the next one', async () => {
    const model = scriptedModel([...times(22, calls('look')), says('done')]);
    let max = 10;
    const registry = () => helperRegistry({ model, tools: { look }, agent: { guards: { rounds: { max } } } });
    const runtime = await testRuntime({
      model,
      registry,
      probe: (point) => {
        if (point === 'tool_committed') max = 120;
      },
    });
    const thread = await runtime.start('go');
    expect(await runtime.client.getThread(thread)).toMatchObject(EXHAUSTED);
    expect(model.requests).toHaveLength(10);
    await runtime.say(thread, 'again');
    expect(await runtime.client.getThread(thread)).toMatchObject({ status: 'idle', lastError: null });
  });
});

const FINISH = calls('finish', { text: 'found it' });

/** Runs a subagent until it is paused. `round` is its call in each round; a quick call costs least. */
async function paused(more: Parameters<typeof cast>[0]['scout_a'] = [], runtime = {}, round = calls('look')) {
  const script = Array.isArray(more) ? more : [];
  const actors = cast({
    main: [calls('scout'), says('thank you'), says('and on')],
    scout_a: [...times(10, round), ...script],
  });
  const scout: Partial<AgentInput> = LEAST;
  const tools = ['look', 'progress', 'finish'];
  const prompts = { scout_a: { includeChat: true, includePastTools: true, tools } };
  const project = { entries: ['scout'], agents: { scout }, prompts, tools: { look } };
  const family = await familyRuntime({ cast: actors, ...project, runtime });
  const { threadId: parent } = await family.client.startThread({
    agent: 'helper',
    messages: [{ content: 'go' }],
  });
  const wait = await eventually('the pause', async () => {
    const [child] = await childrenOf(family, parent);
    return child && (await family.client.listWaits({ threadId: child.threadId }))[0];
  });
  return { ...family, actors, parent, child: wait.threadId, wait };
}
const resultOf = async (runtime: TestRuntime, thread: string) =>
  (await runtime.messages(thread)).findLast(({ role }) => role === 'tool');

/** Returns how many signals asked the parent's workflow to check what the child waits for. */
async function hintsOf(parent: WorkflowHandle, child: string): Promise<number> {
  const { events } = await parent.fetchHistory();
  const signals = (events ?? []).flatMap(
    ({ workflowExecutionSignaledEventAttributes: signal }) => signal ?? [],
  );
  const read = (data: Uint8Array | null | undefined) =>
    JSON.parse(Buffer.from(data ?? []).toString() || '{}');
  return signals.filter(({ input }) => read(input?.payloads?.[0]?.data).waitOf === child).length;
}

describe('a subagent that used up its rounds', () => {
  it('[AX-04] is paused: it waits, shows its progress, and has reported nothing', async () => {
    const family = await paused([], {}, calls('progress', { at: 'work' }));
    expect(family.wait).toMatchObject({
      kind: 'paused',
      name: 'scout',
      summary: 'more rounds for scout: it has used 10 of 10 rounds without finishing',
      data: { round: 10, maxRounds: 10, executedTools: ['progress'] },
      blocks: true,
      expiresAt: null,
    });
    await eventually('it shows that it waits', async () => {
      const { status } = await family.client.getThread(family.child);
      return status === 'waiting';
    });
    expect(family.actors.of('scout_a')).toHaveLength(10);
    const told = await family.store.events.read(family.parent, 0);
    expect(told.filter(({ type }) => type.startsWith('subagent.re') || type === 'subagent.failed')).toEqual(
      [],
    );
    await family.client.stop(family.parent);
    await family.client.waitForIdle(family.parent);
    await eventually('its wait is closed', async () => (await family.client.listWaits()).length === 0);
  });

  it('[AX-122] continues with the same history when released, with as many rounds again, and finishes', async () => {
    const family = await paused([...times(9, calls('look')), FINISH]);
    expect(await family.client.answerWait(family.wait.id, { approved: true, by: 'ada' })).toEqual({
      outcome: 'taken',
    });
    await family.client.waitForIdle(family.parent);
    expect(await family.client.getThread(family.parent)).toMatchObject({ status: 'idle', lastError: null });
    const resumed = family.actors.of('scout_a')[10];
    expect(resumed?.messages.filter(({ role }) => role === 'tool')).toHaveLength(10);
    expect((await resultOf(family, family.parent))?.content).toContain('found it');
    const log = await family.store.events.read(family.child, 0, 1000);
    expect(eventsOf(log, 'execution.started')).toHaveLength(1);
  });

  it('[AX-122] is shown by the parent that it blocks, and can be released from there', async () => {
    const family = await paused([FINISH]);
    const parent = family.client.temporal.workflow.getHandle(`thread/${family.parent}`);
    const shown = async () => (await askStatus(parent)).waits;
    const view = { id: family.wait.id, kind: 'paused', name: 'scout', threadId: family.child };
    expect(await eventually('the parent shows it', shown)).toEqual([view]);
    expect(await family.client.getThread(family.parent)).toMatchObject({ status: 'waiting' });
    const answer = { id: family.wait.id, answer: { approved: true } } as const;
    expect(await parent.executeUpdate(answerWaitUpdate, { args: [answer] })).toEqual({ outcome: 'taken' });
    await family.client.waitForIdle(family.parent);
    expect((await resultOf(family, family.parent))?.content).toContain('found it');
    // The parent was signalled for both changes, and did not find them by polling.
    expect(await hintsOf(parent, family.child)).toBe(2);
    const told = await family.store.events.read(family.parent, 0);
    expect(told.filter(({ type }) => type.startsWith('wait.')).map(({ type }) => type)).toEqual([
      'wait.opened',
      'wait.closed',
    ]);
  });

  it('[AX-122] is paused again if that is not enough, and fails if the release is denied', async () => {
    const family = await paused(times(10, calls('look')));
    await family.client.answerWait(family.wait.id, { approved: true });
    const again = await eventually('another pause', async () => {
      const [wait] = await family.client.listWaits({ threadId: family.child });
      return wait?.id === family.wait.id ? undefined : wait;
    });
    expect(again.data).toMatchObject({ round: 10, maxRounds: 10 });
    await family.client.answerWait(again.id, { approved: false, reason: 'enough' });
    await family.client.waitForIdle(family.parent);
    const log = await family.store.events.read(family.child, 0, 1000);
    expect(eventsOf(log, 'execution.ended').map(({ data }) => data)).toMatchObject([
      { status: 'failed', error: EXHAUSTED.lastError },
    ]);
    expect(await resultOf(family, family.parent)).toMatchObject({
      tool_status: 'error',
      content: expect.stringContaining('rounds'),
    });
  });

  it('[AX-122] continues with a message, which closes the wait', async () => {
    const family = await paused([FINISH]);
    await family.client.queueMessage(family.child, { content: 'come to an end' });
    // Both threads are shown as waiting until the child has taken the message.
    const result = await eventually('the report', () => resultOf(family, family.parent));
    expect(result.content).toContain('found it');
    await family.client.waitForIdle(family.parent);
    const [closed] = eventsOf(await family.store.events.read(family.child, 0, 1000), 'wait.closed');
    expect(closed?.data).toMatchObject({ waitId: family.wait.id, reason: 'spoken to' });
    expect(await family.client.answerWait(family.wait.id, { approved: true })).toEqual({ outcome: 'closed' });
  });

  it('[AX-126] gets a message at its next step, and its parent no longer shows its pause', async () => {
    const family = await paused([FINISH]);
    await family.client.queueMessage(family.child, { content: 'come to an end' });
    expect((await family.client.waitForIdle(family.child)).status).not.toBe('waiting');
    const heard = family.actors.of('scout_a')[10]?.messages.at(-1);
    expect(heard).toMatchObject({ role: 'user', content: 'come to an end' });
  });

  it('[AX-122] gets a message sent before it was paused', async () => {
    const gate = Promise.withResolvers<void>();
    const probe = (point: FaultPoint) => (point === 'wait_opened' ? gate.promise : undefined);
    const family = await paused([FINISH], { probe });
    await family.client.queueMessage(family.child, { content: 'come to an end' });
    await eventually('it is in line', async () => (await family.store.queue.count(family.child)) === 1);
    gate.resolve();
    await eventually('the report', () => resultOf(family, family.parent));
    await family.client.waitForIdle(family.parent);
  });

  it('[AX-122] waits across runs that continue as new', async () => {
    const family = await paused([FINISH], { fresh: true, configuration: { historySoftLimit: 20 } });
    const run = async () =>
      (await family.client.temporal.workflow.getHandle(`thread/${family.child}`).describe()).runId;
    const first = await run();
    // Makes its history grow beyond the limit.
    for (let n = 0; n < 12; n++)
      await family.client.temporal.workflow.getHandle(`thread/${family.child}`).signal('wake', {});
    await eventually('another run', async () => (await run()) !== first);
    await family.client.answerWait(family.wait.id, { approved: true });
    await family.client.waitForIdle(family.parent);
    expect((await resultOf(family, family.parent))?.content).toContain('found it');
    expect(await family.client.listWaits({ threadId: family.child })).toEqual([]);
  });
});
