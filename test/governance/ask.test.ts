/** A tool that asks (`asks: true`): its call waits in the workflow, then its body begins again with the answer. */
import { describe, expect, it } from '@jest/globals';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { signalForgotten } from '../../src/worker/maintenance.ts';
import { answerWait, answerWaitUpdate } from '../../src/workflows/messages.ts';
import { askStatus } from '../support/ask-workflow.ts';
import { readRuns } from '../support/run-chain.ts';
import { eventually, helperRegistry, testRuntime } from '../support/runtime.ts';

/** A tool that asks for a name, and records each begin of its body. */
function asking({ expiresInMs }: { expiresInMs?: number } = {}) {
  const begun: string[] = [];
  const tool = defineTool({
    description: 'books a table',
    asks: true,
    execute: async (state) => {
      begun.push(String(state.idempotencyKey));
      const { value, by } = await state.ask({
        key: 'name',
        question: 'For whom?',
        data: { seats: 2 },
        ...(expiresInMs === undefined ? {} : { expiresInMs }),
      });
      return { status: 'success', result: `booked for ${String(value)} by ${by ?? 'nobody'}` };
    },
  });
  return { tool, begun };
}

async function runtimeThatAsks(options: Parameters<typeof asking>[0] = {}) {
  const { tool, begun } = asking(options);
  const model = scriptedModel([calls('book', {}), says('done')]);
  const runtime = await testRuntime({ model, tools: { book: tool } });
  const { threadId } = await runtime.client.startThread({ agent: 'helper', messages: [{ content: 'book' }] });
  const record = await runtime.client.waitForIdle(threadId);
  const open = await runtime.client.listWaits({ threadId });
  const [wait] = [...open, ...(await runtime.client.listWaits({ threadId, state: 'expired' }))];
  if (!wait) throw new Error('Nothing waits.');
  return {
    ...runtime,
    threadId,
    record,
    wait,
    begun,
    handle: runtime.client.temporal.workflow.getHandle(`thread/${threadId}`),
  };
}

const BOOKED = [
  'user: book',
  'assistant:  -> book',
  'tool book success: booked for ada by bob',
  'assistant: done',
];

describe('a tool that asks', () => {
  it('waits for the answer, visible everywhere, and its body runs again from its start', async () => {
    const { client, threadId, record, wait, handle, begun, transcript } = await runtimeThatAsks();
    expect(record.status).toBe('waiting');
    expect(wait).toMatchObject({
      threadId,
      kind: 'question',
      name: 'book',
      summary: 'For whom?',
      data: { seats: 2 },
    });
    const view = await eventually('the view', async () => {
      const shown = await askStatus(handle);
      return shown.waits ? shown : undefined;
    });
    expect(view).toMatchObject({
      status: 'waiting',
      waits: [{ id: wait.id, kind: 'question', name: 'book' }],
    });
    expect(view.activity).toBe(`waiting for an answer to book (${wait.id})`);
    expect(await client.answerWait(wait.id, { value: 'ada', by: 'bob' })).toEqual({ outcome: 'taken' });
    expect(await client.waitForIdle(threadId)).toMatchObject({ status: 'idle' });
    expect(await transcript(threadId)).toEqual(BOOKED);
    expect(begun).toHaveLength(2);
    expect(new Set(begun).size).toBe(1);
    expect(await client.answerWait(wait.id, { value: 'ada', by: 'bob' })).toEqual({ outcome: 'duplicate' });
    expect(await client.answerWait(wait.id, { value: 'eve' })).toEqual({ outcome: 'already_answered' });
    expect(await client.answerWait('nothing', { value: 1 })).toEqual({ outcome: 'unknown' });
    expect(await client.listWaits({ threadId })).toEqual([]);
  });

  it('continues by a plain signal with the answer, and reports an answer that is not accepted', async () => {
    const { client, threadId, wait, handle, transcript } = await runtimeThatAsks();
    await handle.signal(answerWait, { id: wait.id, answer: { approved: true } });
    await handle.signal('answerWait', { answer: { approved: true } });
    await handle.signal(answerWait, { id: wait.id, answer: { value: 'ada', by: 'bob' } });
    await eventually('the end', async () => (await client.getThread(threadId)).status === 'idle');
    expect(await transcript(threadId)).toEqual(BOOKED);
    const events = await client.events(threadId, { follow: false });
    const rejected: string[] = [];
    for await (const event of events) if (event.type === 'item.rejected') rejected.push(event.data.reason);
    expect(rejected).toEqual([
      expect.stringContaining('"id" must be'),
      expect.stringContaining('is answered by a "value"'),
    ]);
  });

  it('[AX-92] continues by an update, which returns the verdict', async () => {
    const { client, threadId, wait, handle, transcript } = await runtimeThatAsks();
    const tell = (answer: { value: unknown; by?: string }, id = wait.id) =>
      handle.executeUpdate(answerWaitUpdate, { args: [{ id, answer }] });
    expect(await tell({ value: 1 }, 'nothing')).toEqual({ outcome: 'unknown' });
    expect(await tell({ value: 'ada', by: 'bob' })).toEqual({ outcome: 'taken' });
    expect(await tell({ value: 'eve' })).toEqual({ outcome: 'already_answered' });
    await client.waitForIdle(threadId);
    expect(await transcript(threadId)).toEqual(BOOKED);
  });

  it('[AX-97] gets an answer whose signal was lost when the answer is repeated', async () => {
    const { client, store, threadId, wait, transcript } = await runtimeThatAsks();
    const answer = { value: 'ada', by: 'bob' };
    expect(await store.waits.answer({ id: wait.id, answer })).toMatchObject({ outcome: 'taken' });
    expect(await client.answerWait(wait.id, answer)).toEqual({ outcome: 'duplicate' });
    await client.waitForIdle(threadId);
    expect(await transcript(threadId)).toEqual(BOOKED);
  });

  it('[AX-97] gets a lost answer by the periodic check of a worker, even if its workflow was killed', async () => {
    const { client, store, taskQueue, threadId, wait, handle, transcript } = await runtimeThatAsks();
    const look = { store, client: client.temporal, taskQueue };
    await store.waits.answer({ id: wait.id, answer: { value: 'ada', by: 'bob' } });
    await handle.terminate('by an operator');
    expect((await store.waits.listForgotten(60_000)).map(({ id }) => id)).not.toContain(wait.id);
    await signalForgotten(look, 0);
    await client.waitForIdle(threadId);
    expect(await transcript(threadId)).toEqual(BOOKED);
    expect((await store.waits.listForgotten(0)).map(({ id }) => id)).not.toContain(wait.id);
  });

  it('has a result that the model reads if it is denied', async () => {
    const { client, threadId, wait, transcript } = await runtimeThatAsks();
    await client.answerWait(wait.id, { approved: false, reason: 'not today' });
    await client.waitForIdle(threadId);
    expect(await transcript(threadId)).toContainEqual(
      expect.stringMatching(/^tool book error: .*"For whom\?" was not answered: refused: not today/),
    );
  });

  it('has a result if the wait expires', async () => {
    const { client, threadId, wait, transcript } = await runtimeThatAsks({ expiresInMs: 1 });
    await eventually('the end', async () => (await client.getThread(threadId)).status === 'idle');
    expect(await transcript(threadId)).toContainEqual(expect.stringMatching(/^tool book error: .*: expired/));
    expect(await client.answerWait(wait.id, { value: 'ada' })).toEqual({ outcome: 'expired' });
  });
});

describe('a thread that waits', () => {
  it('continues after its workflow was killed, when its wait is answered', async () => {
    const { client, threadId, wait, handle, transcript, begun } = await runtimeThatAsks();
    await handle.terminate('by an operator');
    expect(await client.answerWait(wait.id, { value: 'ada', by: 'bob' })).toEqual({ outcome: 'taken' });
    await client.waitForIdle(threadId);
    expect(await transcript(threadId)).toEqual(BOOKED);
    expect(begun).toHaveLength(2);
  });

  it('waits again after its workflow was killed, when anything else wakes it', async () => {
    const { client, threadId, wait, handle, transcript } = await runtimeThatAsks();
    await handle.terminate('by an operator');
    await client.queueMessage(threadId, { content: 'well?' });
    const next = client.temporal.workflow.getHandle(`thread/${threadId}`);
    await eventually('the wait', async () => (await askStatus(next)).waits?.[0]?.id === wait.id);
    expect(await client.getThread(threadId)).toMatchObject({ status: 'waiting' });
    await client.answerWait(wait.id, { value: 'ada', by: 'bob' });
    await eventually('the end', async () => (await client.getThread(threadId)).status === 'idle');
    expect((await transcript(threadId)).slice(0, 3)).toEqual(BOOKED.slice(0, 3));
  });

  it('continues as new during the wait, and on another worker', async () => {
    const { tool, begun } = asking();
    const model = scriptedModel([calls('book', {}), says('done')]);
    const configuration = { historySoftLimit: 40 };
    const first = await testRuntime({ model, tools: { book: tool }, configuration, fresh: true });
    const { client, store, taskQueue, transcript } = first;
    const { threadId } = await client.startThread({ agent: 'helper', messages: [{ content: 'book' }] });
    await client.waitForIdle(threadId);
    const [wait] = await client.listWaits({ threadId });
    const handle = client.temporal.workflow.getHandle(`thread/${threadId}`);
    for (let n = 0; n < 30; n++) await handle.signal('wakeForMessages', {});
    await eventually('the next run', async () => (await readRuns(client, threadId)).length > 1);
    await eventually('the wait', async () => (await askStatus(handle)).waits?.[0]?.id === wait?.id);
    await first.stopWorker();
    expect(await client.answerWait(wait?.id ?? '', { value: 'ada', by: 'bob' })).toEqual({
      outcome: 'taken',
    });
    await testRuntime({ registry: helperRegistry({ model, tools: { book: tool } }), store, taskQueue });
    await eventually('the end', async () => (await client.getThread(threadId)).status === 'idle');
    expect((await transcript(threadId)).slice(0, 4)).toEqual(BOOKED);
    expect(begun).toHaveLength(2);
  });

  it('closes its wait when it is stopped', async () => {
    const { client, threadId, wait, transcript } = await runtimeThatAsks();
    await client.stop(threadId, 'enough');
    expect(await client.waitForIdle(threadId)).toMatchObject({ status: 'stopped' });
    expect(await client.getWait(wait.id)).toMatchObject({ state: 'closed' });
    expect(await client.answerWait(wait.id, { value: 'ada' })).toEqual({ outcome: 'closed' });
    expect(await transcript(threadId)).toContainEqual(expect.stringContaining('tool book error'));
    await client.queueMessage(threadId, { content: 'go on' });
    await client.waitForIdle(threadId);
  });

  it('closes its wait when it is terminated', async () => {
    const { tool } = asking();
    const runtime = await testRuntime({ model: scriptedModel([calls('book', {})]), tools: { book: tool } });
    const { client } = runtime;
    const { threadId } = await client.startThread({ agent: 'helper', messages: [{ content: 'book' }] });
    await client.waitForIdle(threadId);
    const [wait] = await client.listWaits({ threadId });
    await client.terminate(threadId);
    expect(await client.answerWait(wait?.id ?? '', { value: 1 })).toEqual({ outcome: 'closed' });
    expect(await client.listWaits({ threadId })).toEqual([]);
  });
});

describe('state.ask', () => {
  it('is refused before a wait is opened if the tool does not declare that it asks', async () => {
    const book = defineTool({
      description: 'books',
      execute: async (state) => {
        await state.ask({ key: 'name', question: 'For whom?' });
        return { status: 'success' };
      },
    });
    const runtime = await testRuntime({
      model: scriptedModel([calls('book', {}), says('done')]),
      tools: { book },
    });
    const thread = await runtime.start('book');
    expect(await runtime.transcript(thread)).toContainEqual(expect.stringContaining('"asks: true"'));
    expect(await runtime.client.listWaits({ threadId: thread, state: 'closed' })).toEqual([]);
  });

  it('asks one question after another, each once', async () => {
    const survey = defineTool({
      description: 'asks twice',
      asks: true,
      execute: async (state) => {
        const first = await state.ask({ key: 'first', question: 'What?' });
        const second = await state.ask({ key: 'second', question: `Why ${String(first.value)}?` });
        return { status: 'success', result: `${String(first.value)} ${String(second.value)}` };
      },
    });
    const model = scriptedModel([calls('survey', {}), says('done')]);
    const { client, transcript } = await testRuntime({ model, tools: { survey } });
    const { threadId } = await client.startThread({ agent: 'helper', messages: [{ content: 'ask' }] });
    for (const value of ['tea', 'warm']) {
      const wait = await eventually('the question', async () => (await client.listWaits({ threadId }))[0]);
      await client.answerWait(wait.id, { value });
    }
    await client.waitForIdle(threadId);
    expect(await transcript(threadId)).toContain('tool survey success: tea warm');
  });
});
