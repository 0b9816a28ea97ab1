/**
 * Chat turns that a closure of a process produces, on a real engine: streamed unchanged, attached to, kept, stopped,
 * and lost with their process.
 */
import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import {
  type ChatTurnHooks,
  type ChatTurnInput,
  type ChatTurnLine,
  clientBox,
  defineAgent,
  deriveExecutionId,
  handleChatTurn,
  localBox,
  type ProduceTurn,
  remoteBox,
} from '../../src/faces/tangle/index.ts';
import { says, scriptedModel } from '../../src/testing/index.ts';
import { testApi } from '../support/api.ts';
import { openBeside } from '../support/database-beside.ts';
import { PROGRAM_OPTIONS } from '../support/program-options.ts';
import { closeAfterTest, eventually, type RuntimeOptions, testRuntime } from '../support/runtime.ts';
import { type Line, readLines } from '../support/turn-lines.ts';
import { addressOf } from '../support/worker-pool.ts';

const withoutId = ({ id: _, ...line }: Line) => line;
const typesOf = (lines: readonly Line[]) => lines.map(({ type }) => type);
const delta = (text: string) => ({
  type: 'message.part.updated',
  data: { delta: text, part: { type: 'text' } },
});

async function* told(...lines: readonly (ChatTurnLine | Promise<unknown> | Error)[]) {
  for (const line of lines) {
    if (line instanceof Error) throw line;
    if (line instanceof Promise) await line;
    else yield line as ChatTurnLine;
  }
}

/** No model is asked unless there is a script. */
async function chat(script: readonly ReturnType<typeof says>[] = [], agent: RuntimeOptions['agent'] = {}) {
  const runtime = await testRuntime({
    model: scriptedModel(script),
    agent,
    ...(script.length > 0 ? {} : { side: { stopOnResponse: false } }),
  });
  const box = clientBox(runtime.client, { agent: 'helper' });
  const sessionId = randomUUID();
  const identityOf = (turnIndex: number) => ({ tenantId: 'acme', userId: 'ada', sessionId, turnIndex });
  const say = (
    message: string,
    hooks: ChatTurnHooks,
    options: { turn?: number; lastEventId?: string } = {},
  ) => {
    const { turn = 0, lastEventId } = options;
    return handleChatTurn({
      box,
      identity: identityOf(turn),
      message,
      hooks,
      lastEventId,
      log: () => undefined,
    });
  };
  return { runtime, box, sessionId, identityOf, say };
}

const LINES = [
  { type: 'message.started', data: { n: 1 } },
  delta('Good '),
  { type: 'house.odd', data: { nested: [1, null, 'ä\u0000'] } },
  { type: 'ping' },
  delta('day.'),
  { type: 'result', data: { finalText: 'Good day.' } },
];

describe('a chat turn produced by a closure', () => {
  it('[TG-12] that is the `run` of a manifest streams as one that is a hook', async () => {
    const { box, identityOf, runtime, sessionId } = await chat();
    const run = ({ message }: ProduceTurn) => ({
      stream: told(delta(`You say ${message}.`)),
      finalText: () => `You say ${message}.`,
    });
    const agent = defineAgent({ id: 'echo', repoRoot: import.meta.dirname, surfaces: {}, run });
    const turn = { box, identity: identityOf(0), message: 'hello' };
    const { body, executionId } = handleChatTurn({ ...turn, agent });
    expect(executionId).toBe(deriveExecutionId({ projectId: 'echo', sessionId, turnIndex: 0 }));
    const lines = await readLines(body);
    expect(typesOf(lines)).toEqual(['session.run.started', 'message.part.updated', 'session.run.completed']);
    expect(await runtime.transcript(sessionId)).toEqual(['user: hello', 'assistant: You say hello.']);
    const named = defineAgent({ id: 'echo', repoRoot: import.meta.dirname, surfaces: {}, run: 'helper' });
    expect(() => handleChatTurn({ ...turn, agent: named })).toThrow(
      'runs "helper", which belongs to the project',
    );
    expect(() => handleChatTurn({ ...turn, agent, hooks: { produce: run } })).toThrow('leave one out');
  });

  it('[TG-12] needs no agent and no worker of its program with a local box, which refuses what nothing produces', async () => {
    const store = `sqlite:${join(process.env.EVERTHREAD_TEST_FOLDER as string, randomUUID())}.db?synchronous=normal`;
    const workflowBundle = process.env.EVERTHREAD_TEST_BUNDLE as string;
    const box = await localBox({ name: `chat-${randomUUID()}`, store, workflowBundle });
    closeAfterTest(() => box.close());
    const turn = {
      identity: { tenantId: 'acme', userId: 'ada', sessionId: randomUUID(), turnIndex: 0 },
      message: 'hello',
    };
    const hooks = { produce: () => ({ stream: told(delta('Hello.')), finalText: () => 'Hello.' }) };
    const { body } = handleChatTurn({ ...turn, box, hooks });
    expect(typesOf(await readLines(body))).toEqual([
      ...['session.run.started', 'message.part.updated', 'session.run.completed'],
    ]);
    expect(() => handleChatTurn({ ...turn, box })).toThrow('Nothing answers in a local box');
    expect(() => handleChatTurn({ ...turn, hooks } as unknown as ChatTurnInput)).toThrow(
      expect.objectContaining({
        code: 'InvalidConfiguration',
        message: expect.stringContaining('await localBox()'),
      }),
    );
  }, 60_000);

  it('[TG-12] streams its own lines in the envelope, runs once, and is stored before it completes', async () => {
    const { runtime, say, sessionId } = await chat();
    const asked: ProduceTurn[] = [];
    const done: string[] = [];
    const hooks: ChatTurnHooks = {
      produce(turn) {
        asked.push(turn);
        return { stream: told(...LINES), finalText: () => 'Good day.' };
      },
      persistAssistantMessage: ({ finalText }) => void done.push(`kept ${finalText}`),
      transformFinalText: (text) => text.toUpperCase(),
      onTurnComplete: ({ executionId }) => void done.push(executionId),
    };
    let before: readonly string[] = [];
    const lines = await readLines(say('hello', hooks).body, ({ type }) => {
      if (type === 'session.run.completed') before = [...done];
      return false;
    });
    expect(lines.map(withoutId)).toEqual([
      { type: 'session.run.started', data: { sessionId, tenantId: 'acme', turnIndex: 0 } },
      ...LINES,
      { type: 'session.run.completed', data: { sessionId } },
    ]);
    expect(before).toEqual(['kept GOOD DAY.', `chat:${sessionId}:0`]);
    // The same turn sent again only reads it, whoever sends it.
    expect(await readLines(say('hello', hooks).body)).toEqual(lines);
    expect(asked).toMatchObject([
      { message: 'hello', executionId: `chat:${sessionId}:0`, identity: { userId: 'ada' } },
    ]);
    expect(done).toHaveLength(2);
    expect(await runtime.transcript(sessionId)).toEqual(['user: hello', 'assistant: GOOD DAY.']);
    const [execution] = await runtime.store.executions.list({ threadId: sessionId, limit: 1 });
    expect(execution).toMatchObject({ stopReason: 'produced' });
  });

  it('[TG-16] can be attached to from another client while it runs, and read from any line', async () => {
    const { runtime, say, sessionId } = await chat();
    const gate = Promise.withResolvers<void>();
    const hooks: ChatTurnHooks = {
      produce: () => ({
        stream: told(...LINES.slice(0, 3), gate.promise, ...LINES.slice(3)),
        finalText: () => 'Good day.',
      }),
    };
    const left = await readLines(say('go', hooks).body, ({ type }) => type === 'house.odd');
    const api = await testApi(runtime);
    const far = remoteBox({ url: api.url, agent: 'helper' });
    const attached: { readonly type: string; readonly id: string }[] = [];
    for await (const event of far.attach(`chat:${sessionId}:0`)) {
      attached.push(event);
      if ((event.type as string) === 'house.odd') gate.resolve();
    }
    const behind = await readLines(say('go', hooks, { lastEventId: left.at(-1)?.id }).body);
    expect([...left, ...behind].map(({ id }) => id)).toEqual(attached.map(({ id }) => id));
    expect([...left, ...behind].slice(1, -1).map(withoutId)).toEqual(LINES);
  });

  it('[TG-13] that fails streams its lines so far, then the error', async () => {
    const { say } = await chat();
    const failing = {
      produce: () => ({
        stream: told(delta('Half'), new Error('the far side hung up')),
        finalText: () => '',
      }),
    };
    const lines = await readLines(say('go', failing).body);
    expect(typesOf(lines).slice(1)).toEqual(['message.part.updated', 'error', 'session.run.failed']);
    expect(lines.at(-2)?.data).toEqual({ message: 'the far side hung up', code: 'ProducerFailed' });
  });

  it('[TG-14] retries a save; a turn that cannot be stored, or emits envelope lines itself, fails', async () => {
    const { say } = await chat();
    let tries = 0;
    const produce = () => ({ stream: told(delta('Yes.')), finalText: () => 'Yes.' });
    const slow: ChatTurnHooks = {
      produce,
      persistAssistantMessage() {
        tries += 1;
        if (tries < 3) throw new Error('the database is away');
      },
      onTurnComplete: () => Promise.reject(new Error('boom')),
    };
    expect(typesOf(await readLines(say('go', slow).body)).at(-1)).toBe('session.run.completed');
    expect(tries).toBe(3);
    const never = { produce, persistAssistantMessage: () => Promise.reject(new Error('the disk is full')) };
    const failed = await readLines(say('go', never, { turn: 1 }).body);
    expect(typesOf(failed).slice(-2)).toEqual(['error', 'session.run.failed']);
    expect(failed.at(-1)?.data.message).toContain('the disk is full');
    const posing = {
      produce: () => ({ stream: told({ type: 'session.run.completed' }), finalText: () => '' }),
    };
    const refused = await readLines(say('go', posing, { turn: 2 }).body);
    expect(refused.at(-2)?.data.code).toBe('InvalidValue');
    expect(typesOf(refused)).not.toContain('session.run.completed');
  });

  it('[TG-18] conflicts with another message under its id, and with the same turn answered by an agent', async () => {
    const { say, box, identityOf } = await chat();
    const hooks = { produce: () => ({ stream: told(delta('Yes.')), finalText: () => 'Yes.' }) };
    await readLines(say('this', hooks).body);
    for (const turn of [
      say('that', hooks),
      handleChatTurn({ box, identity: identityOf(0), message: 'this' }),
    ])
      expect((await readLines(turn.body))[0]?.data.code).toBe('ExecutionConflict');
  });

  it('runs after the other turns of its session, some of which an agent may answer', async () => {
    const { runtime, say, box, sessionId, identityOf } = await chat([says('Mine.')]);
    const order: string[] = [];
    const gate = Promise.withResolvers<void>();
    const hooksOf = (name: string, waits?: Promise<void>): ChatTurnHooks => ({
      produce: () => {
        order.push(`${name} begins`);
        return {
          stream: told(...(waits ? [waits] : []), delta(name)),
          finalText: () => {
            order.push(`${name} ends`);
            return name;
          },
        };
      },
    });
    const first = say('a', hooksOf('first', gate.promise));
    const reading = readLines(first.body);
    await eventually('the first one', () => order.length > 0);
    const second = readLines(say('b', hooksOf('second'), { turn: 1 }).body);
    await eventually(
      'the second one is in line',
      async () => (await runtime.store.queue.count(sessionId)) > 0,
    );
    gate.resolve();
    expect(typesOf(await reading).at(-1)).toBe('session.run.completed');
    expect(typesOf(await second).at(-1)).toBe('session.run.completed');
    expect(order).toEqual(['first begins', 'first ends', 'second begins', 'second ends']);
    const mine = await readLines(handleChatTurn({ box, identity: identityOf(2), message: 'c' }).body);
    expect(mine.at(-2)).toMatchObject({ type: 'result', data: { finalText: 'Mine.' } });
  });

  it('is aborted by a stop, even if it hangs, and ends for its readers', async () => {
    const { runtime, say, sessionId } = await chat();
    const signals: AbortSignal[] = [];
    const reading = readLines(
      say('go', {
        produce({ signal }) {
          signals.push(signal);
          return { stream: told(delta('And so on'), new Promise(() => undefined)), finalText: () => '' };
        },
      }).body,
    );
    await eventually('it runs', async () =>
      (await runtime.store.events.read(sessionId, 0)).some(({ type }) => type === 'produced.line'),
    );
    await runtime.client.stop(sessionId, 'enough');
    const lines = await reading;
    expect(typesOf(lines).slice(-2)).toEqual(['error', 'session.run.failed']);
    await eventually('it hears it', () => signals[0]?.aborted === true);
  });

  it('charges the usage of its lines to the budgets of its thread, and ends above a limit', async () => {
    const budget = { maxLlmCalls: 9, maxInputTokens: 100, maxOutputTokens: 1000, warnAt: 0 };
    const { runtime, say, sessionId } = await chat([], { budget });
    const asks = { type: 'llm_call', data: { model: 'm', tokensIn: 40, tokensOut: 5, costUsd: 0.25 } };
    const odd = { type: 'llm_call', data: { model: 'm', tokensIn: Number.NaN, tokensOut: -3 } };
    const twice = { stream: told(asks, delta('Yes.'), asks, odd), finalText: () => 'Yes.' };
    const lines = await readLines(say('go', { produce: () => twice }).body);
    expect(typesOf(lines).at(-1)).toBe('session.run.completed');
    const used = async () =>
      Object.fromEntries((await runtime.client.getBudget(sessionId)).map((line) => [line.limit, line.used]));
    expect(await used()).toEqual({ maxLlmCalls: 3, maxInputTokens: 80, maxOutputTokens: 10 });
    const [{ metrics }, [committed]] = await Promise.all([
      runtime.client.runs.report(`chat:${sessionId}:0`, { threadId: sessionId }),
      runtime.store.events
        .read(sessionId, 0)
        .then((rows) => rows.filter(({ type }) => type === 'step.committed')),
    ]);
    expect(metrics).toMatchObject([{ input_tokens: 40, cost: 0.25 }, { output_tokens: 5 }, { cost: null }]);
    expect(committed?.data).toMatchObject({ usage: { promptTokens: 80, totalTokens: 90, cost: 0.5 } });
    // The next turn has its own budget, which three such lines exceed; after that its stream is not read any further.
    const signals: AbortSignal[] = [];
    const thrice: ChatTurnHooks = {
      produce({ signal }) {
        signals.push(signal);
        const never = new Promise(() => undefined);
        return { stream: told(asks, asks, delta('Still'), asks, never), finalText: () => 'Never.' };
      },
    };
    const over = await readLines(say('more', thrice, { turn: 1 }).body);
    expect(typesOf(over).slice(1)).toEqual([
      ...['llm_call', 'llm_call', 'message.part.updated', 'llm_call', 'error', 'session.run.failed'],
    ]);
    expect(over.at(-2)?.data).toMatchObject({ code: 'BudgetExceeded' });
    await eventually('it hears it', () => signals[0]?.aborted === true);
    expect(signals[0]?.reason).toMatchObject({ code: 'BudgetExceeded' });
    expect(await used()).toMatchObject({ maxInputTokens: 120 });
  });

  it('is refused with a remote box, as are hooks that only such a turn has', async () => {
    const { box, identityOf } = await chat();
    const turn = { identity: identityOf(0), message: 'go' };
    const produce = () => ({ stream: told(), finalText: () => '' });
    const far = remoteBox({ url: 'http://127.0.0.1:9', agent: 'helper' });
    expect(() => handleChatTurn({ ...turn, box: far, hooks: { produce } })).toThrow(/clientBox/);
    expect(() => handleChatTurn({ ...turn, box, hooks: { onTurnComplete: () => undefined } })).toThrow(
      /persistTurns/,
    );
    expect(() =>
      far.streamPrompt('go', { produce: () => ({ lines: told(), end: async () => ({ text: '' }) }) }),
    ).toThrow(/clientBox/);
  });

  it('[TG-17] whose process dies fails with ProducerLost, as does a queued one; neither runs again, and the session continues', async () => {
    const { runtime, say, sessionId } = await chat();
    const { store, taskQueue } = runtime;
    const address = addressOf(store);
    const program = join(import.meta.dirname, '..', 'support', 'producer-process.ts');
    const child = fork(program, [address, taskQueue, sessionId], { execArgv: [...PROGRAM_OPTIONS] });
    closeAfterTest(async () => void child.kill('SIGKILL'));
    await once(child, 'message');
    await eventually('both are claimed, and it has told what it will', async () => {
      const lines = (await store.events.read(sessionId, 0)).filter(({ type }) => type === 'produced.line');
      return lines.length === 2 && (await store.producers.find(sessionId, `chat:${sessionId}:1`)) !== null;
    });
    const db = openBeside(address);
    closeAfterTest(() => db.destroy());
    const present = () =>
      db.selectFrom('producers').select('present_until').where('thread_id', '=', sessionId).execute();
    const before = await present();
    await eventually('it shows its presence', async () =>
      (await present()).every(
        ({ present_until: until }, n) => Number(until) > Number(before[n]?.present_until ?? until),
      ),
    );
    const again: string[] = [];
    const hooks: ChatTurnHooks = {
      produce({ executionId }) {
        again.push(executionId);
        return { stream: told(delta('Here.')), finalText: () => 'Here.' };
      },
    };
    const readings = [0, 1].map((turn) => readLines(say('go', hooks, { turn }).body));
    child.kill('SIGKILL');
    await once(child, 'exit');
    // Simulates that the process's presence has expired.
    await db.updateTable('producers').set({ present_until: 0 }).where('thread_id', '=', sessionId).execute();
    const [first = [], second = []] = await Promise.all(readings);
    expect(typesOf(first).slice(-4)).toEqual([
      'message.part.updated',
      'message.part.updated',
      'error',
      'session.run.failed',
    ]);
    for (const lines of [first, second]) expect(lines.at(-2)?.data).toMatchObject({ code: 'ProducerLost' });
    expect(typesOf(await readLines(say('go', hooks).body))).toEqual(typesOf(first));
    expect(again).toEqual([]);
    const third = await readLines(say('go', hooks, { turn: 2 }).body);
    expect(third.slice(1).map(withoutId)).toEqual([
      delta('Here.'),
      { type: 'session.run.completed', data: { sessionId } },
    ]);
    expect(again).toEqual([`chat:${sessionId}:2`]);
  });
});
