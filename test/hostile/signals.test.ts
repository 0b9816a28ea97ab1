/**
 * Whatever a signal, an update, a query or a start contains: the thread works on, can be ended, and no other thread is
 * affected.
 */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { LIMITS } from '../../src/core/value/limit.ts';
import { echo, GARBAGE_COUNT, hostileRuntime } from '../support/hostile.ts';
import {
  GARBAGE,
  json,
  jsonText,
  nested,
  payload,
  type RawPayload,
  rawQuery,
  rawSignal,
  rawStart,
  rawUpdate,
} from '../support/raw-payload.ts';
import { eventually, testRuntime } from '../support/runtime.ts';

const SIGNALS = ['queueMessage', 'queueTool', 'stop', 'wakeForEffects', 'wakeForMessages'];

describe('an invalid payload', () => {
  it('is refused with a reason or ignored, and the thread continues', async () => {
    const thread = await hostileRuntime();
    for (const payloads of Object.values(GARBAGE)) {
      for (const name of SIGNALS) await thread.signal(name, payloads);
    }
    const refused = await thread.rejected(2 * GARBAGE_COUNT);
    expect(refused).toHaveLength(2 * GARBAGE_COUNT);
    for (const reason of refused) expect(reason).toMatch(/^InvalidMessage: .{10,200}$/);
    await thread.expectHealth();
  });

  it('ends a thread if it is sent with `terminate`', async () => {
    const { client, start } = await testRuntime({ model: echo() });
    const endBy = async (payloads: readonly RawPayload[]) => {
      const thread = await start();
      await rawSignal(client, thread, 'terminate', payloads);
      await eventually('its end', async () => (await client.getThread(thread)).status === 'terminated');
    };
    await Promise.all(Object.values(GARBAGE).map(endBy));
  });

  it('of the plain temporal CLI is refused', async () => {
    const thread = await hostileRuntime();
    const signal = (...args: string[]) =>
      promisify(execFile)(process.env.EVERTHREAD_TEST_TEMPORAL_CLI as string, [
        ...['workflow', 'signal', '--address', process.env.TEMPORAL_ADDRESS as string],
        ...['--workflow-id', `thread/${thread.victim}`, '--name', 'queueMessage', ...args],
      ]);
    await signal('--input', 'no JSON', '--input-meta', 'encoding=binary/plain');
    await signal('--input', '{}', '--input-meta', 'encoding=json/protobuf');
    await signal();
    expect(await thread.rejected(3)).toHaveLength(3);
    await thread.expectHealth();
  });

  it('is refused in an update with a code, without a trace in history', async () => {
    const thread = await hostileRuntime();
    for (const payloads of Object.values(GARBAGE)) {
      const failure = await rawUpdate(thread.client, thread.victim, 'sendMessage', payloads);
      expect(failure?.applicationFailureInfo?.type).toBe('InvalidMessage');
    }
    const { events } = await thread.client.temporal.workflow
      .getHandle(`thread/${thread.victim}`)
      .fetchHistory();
    expect(events?.some((event) => event.workflowExecutionUpdateAcceptedEventAttributes)).toBe(false);
    await thread.expectHealth();
  });

  it('does not affect a query', async () => {
    const thread = await hostileRuntime();
    for (const payloads of Object.values(GARBAGE)) {
      const { queryResult } = await rawQuery(thread.client, thread.victim, 'status', payloads);
      expect(JSON.parse(Buffer.from(queryResult?.payloads?.[0]?.data ?? []).toString())).toMatchObject({
        threadId: thread.victim,
      });
    }
    await thread.expectHealth();
  });

  it('fails a start with InvalidStart, and is ignored in a memo', async () => {
    const thread = await hostileRuntime();
    const startBy = async (input: readonly RawPayload[]) => {
      const threadId = randomUUID();
      await rawStart(thread.client, threadId, { input });
      const result = thread.client.temporal.workflow.getHandle(`thread/${threadId}`).result();
      await expect(result).rejects.toMatchObject({ cause: { type: 'InvalidStart' } });
    };
    await Promise.all(Object.values(GARBAGE).map(startBy));
    const threadId = randomUUID();
    await rawStart(thread.client, threadId, { memo: payload('{', 'json/plain') });
    await eventually('it is opened', () => thread.store.threads.get(threadId));
    await thread.say(threadId, 'hello');
    expect(await thread.transcript(threadId)).toEqual(['user: hello', 'assistant: echo hello']);
    await thread.expectHealth();
  });
});

describe('JSON nested deeper than the limit', () => {
  const deep = (levels: number) => [
    ['queueMessage', `{"id":"m${levels}","content":"x","metadata":{"a":${nested(levels)}}}`],
    ['queueTool', `{"id":"t${levels}","name":"x","arguments":{"a":${nested(levels)}}}`],
  ];

  it.each([5000, 100_000])('with %d levels is refused, and the next item is stored', async (levels) => {
    const thread = await hostileRuntime();
    // If the payload exceeds the maximum size, the refusal is about its size instead.
    const code =
      levels * 2 > LIMITS.inlineBytes ? /^(InvalidMessage|MessageTooLarge): / : /^InvalidMessage: /;
    for (const [name = '', text = ''] of deep(levels)) await thread.signal(name, [jsonText(text)]);
    const [[, text = ''] = []] = deep(levels);
    const failure = await rawUpdate(thread.client, thread.victim, 'sendMessage', [jsonText(text)]);
    expect(`${failure?.applicationFailureInfo?.type}: `).toMatch(code);
    for (const reason of await thread.rejected(2)) expect(reason).toMatch(code);
    await thread.expectHealth();
  });

  it('is stored up to the limit', async () => {
    const thread = await hostileRuntime();
    const metadata = JSON.parse(`{"a":${nested(LIMITS.jsonDepth - 1)}}`);
    await thread.signal('queueMessage', [json({ content: 'deep', metadata })]);
    await thread.signal('queueMessage', [json({ content: 'too deep', metadata: { a: metadata } })]);
    expect(await thread.rejected(1)).toEqual([
      expect.stringMatching(/^InvalidMessage: the payload is nested deeper than 1000 levels/),
    ]);
    await eventually('the answer', async () =>
      (await thread.transcript(thread.victim)).includes('assistant: echo deep'),
    );
    await thread.expectHealth();
  });

  it.each([
    ['arguments', (text: string) => `{"agent":"helper","arguments":{"a":${text}}}`],
    [
      'a message',
      (text: string) => `{"agent":"helper","messages":[{"content":"x","metadata":{"a":${text}}}]}`,
    ],
    ['the id', (text: string) => `{"agent":"helper","threadId":${text}}`],
    [
      'a state that no run has carried',
      (text: string) => `{"agent":"helper","arguments":${text},"carried":null}`,
    ],
  ])('in %s of a start fails it with InvalidStart', async (_, toInput) => {
    const { client } = await testRuntime({ model: echo() });
    const startBy = async (levels: number) => {
      const threadId = randomUUID();
      await rawStart(client, threadId, { input: [jsonText(toInput(nested(levels)))] });
      const result = client.temporal.workflow.getHandle(`thread/${threadId}`).result();
      await expect(result).rejects.toMatchObject({
        cause: { type: 'InvalidStart', message: expect.stringContaining('1000 levels') },
      });
    };
    await Promise.all([5000, 500_000].map(startBy));
  });
});

describe('a payload above the byte limit', () => {
  it('is refused without being read, except in a stop, which still stops the thread', async () => {
    const thread = await hostileRuntime();
    const large = 'x'.repeat(1_900_000);
    await thread.signal('queueMessage', [json({ content: large })]);
    await thread.signal('queueTool', [json({ name: 'x', arguments: { large } })]);
    await thread.signal('wakeForMessages', [json({ reportOf: large })]);
    for (const reason of await thread.rejected(2))
      expect(reason).toMatch(/^MessageTooLarge: the payload of 19/);
    const failure = await rawUpdate(thread.client, thread.victim, 'sendMessage', [json({ content: large })]);
    expect(failure?.applicationFailureInfo?.type).toBe('MessageTooLarge');
    await thread.signal('stop', [json({ reason: large })]);
    await eventually(
      'the stop',
      async () => (await thread.client.getThread(thread.victim)).status === 'stopped',
    );
    await thread.expectHealth();
  });
});
