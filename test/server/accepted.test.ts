/** An accepted thread exists even before a worker has opened it. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { tokenAccess } from '../../src/server/api/access.ts';
import { says, scriptedModel } from '../../src/testing/index.ts';
import { testApi } from '../support/api.ts';
import { connectPatiently } from '../support/patient-client.ts';
import { readStream } from '../support/read-stream.ts';
import { closeAfterTest, testRuntime, testStore } from '../support/runtime.ts';

const [ADA, BOB] = ['ada', 'bob'].map((name) => name.padEnd(20, '-'));
const as = (token: string | undefined) => ({ authorization: `Bearer ${token}` });

/** An API whose task queue no worker serves yet. */
async function unserved() {
  const store = await testStore();
  const taskQueue = `later-${randomUUID()}`;
  const client = await connectPatiently({ store, taskQueue });
  closeAfterTest(() => client.close());
  return { store, taskQueue, client };
}

describe('a thread that no worker has opened', () => {
  it('can be read once it is accepted, and its stream starts when the thread opens', async () => {
    const place = await unserved();
    const api = await testApi(place);
    const sent = { agent: 'helper', arguments: { a: 1 }, messages: [{ content: 'hi' }] };
    const { threadId } = (await api.call('POST', '/v1/threads', sent)).body;
    const path = `/v1/threads/${threadId}`;
    expect(await api.call('GET', path)).toMatchObject({
      status: 200,
      body: {
        id: threadId,
        agent: 'helper',
        status: 'running',
        arguments: { a: 1 },
        rootId: threadId,
        lastSeq: 0,
      },
    });
    expect((await api.call('GET', `${path}/messages`)).body).toEqual({
      messages: [],
      total: 0,
      hasMore: false,
    });
    expect((await api.call('GET', `${path}/family`)).body.family).toMatchObject([
      { thread: { id: threadId }, child: null, depth: 0 },
    ]);
    expect((await api.call('GET', `${path}/events`)).body).toEqual({ events: [], cursor: '0', more: false });
    expect((await api.call('POST', `${path}/messages`, { content: 'more' })).status).toBe(202);
    const model = scriptedModel([says('Hello!')]);
    let opening: Promise<unknown> | undefined;
    const told = await readStream(`${api.url}${path}/events`, {
      format: 'sse',
      until({ event, data }) {
        // No worker runs yet; one is started from here on.
        if (event === 'caught-up') opening ??= testRuntime({ model, ...place });
        return (data as { type?: string }).type === 'execution.ended';
      },
    });
    await opening;
    expect(told.map(({ event }) => event).slice(0, 3)).toEqual(['begin', 'caught-up', 'message']);
    expect(told[2]?.data).toMatchObject({ seq: 1, type: 'thread.created' });
    expect((await api.call('GET', path)).body).toMatchObject({
      agent: 'helper',
      arguments: { a: 1 },
      status: 'idle',
    });
  });

  it('is visible to its own user only', async () => {
    const place = await unserved();
    const api = await testApi(place, { access: tokenAccess(`${ADA}=read+write@ada,${BOB}=read+write@bob`) });
    const { threadId } = (await api.call('POST', '/v1/threads', { agent: 'helper' }, as(ADA))).body;
    const path = `/v1/threads/${threadId}`;
    expect((await api.call('GET', path, undefined, as(ADA))).body).toMatchObject({
      userId: 'ada',
      status: 'idle',
    });
    for (const at of [path, `${path}/messages`, `${path}/events`])
      expect((await api.call('GET', at, undefined, as(BOB))).body.code).toBe('ThreadNotFound');
  });

  it('is not found if its workflow can never open it or was terminated before', async () => {
    const { client, taskQueue } = await unserved();
    const begin = (threadId: string, input: unknown) =>
      client.temporal.workflow.start('thread', {
        workflowId: `thread/${threadId}`,
        taskQueue,
        args: [input],
      });
    const [invalid, ended] = [randomUUID(), randomUUID()];
    await begin(invalid, { agent: 7 });
    await (await begin(ended, { agent: 'helper' })).terminate();
    for (const threadId of [invalid, ended, randomUUID(), 'no id'])
      await expect(client.getThread(threadId)).rejects.toMatchObject({ code: 'ThreadNotFound' });
  });

  it('is not found by a client whose store differs from the one of its workers', async () => {
    const runtime = await testRuntime({ model: scriptedModel([says('Hello!')]) });
    const thread = await runtime.start('hi');
    const elsewhere = await connectPatiently({ store: await testStore(), taskQueue: runtime.taskQueue });
    closeAfterTest(() => elsewhere.close());
    await expect(elsewhere.getThread(thread)).rejects.toMatchObject({ code: 'ThreadNotFound' });
  });
});
