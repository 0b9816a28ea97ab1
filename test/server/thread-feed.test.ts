/** What lists of threads show and count over HTTP, and the feed of their changes, within the limits of tokens. */
import { describe, expect, it } from '@jest/globals';
import { HttpClient } from '../../src/client/http/http-client.ts';
import { createToken, storedAccess } from '../../src/server/api/stored-access.ts';
import type { ChangedThread } from '../../src/store/thread/thread-record.ts';
import { says, scriptedModel } from '../../src/testing/index.ts';
import { testApi } from '../support/api.ts';
import { closeAfterTest, eventually, testRuntime, testStore } from '../support/runtime.ts';

const SECRET = 'swordfish-4711';

/** Two organisations, each with a token that may read, and a token that may read all. */
async function twoOrganizations() {
  const store = await testStore();
  const runtime = await testRuntime({ store, model: scriptedModel(() => says('Hello!')) });
  const uiUrl = 'http://127.0.0.1:8233';
  const api = await testApi(runtime, { access: storedAccess(store, null), uiUrl });
  const token = async (organizationId?: string) =>
    (await createToken(store, { name: organizationId ?? 'all', scopes: ['read'], organizationId })).secret;
  const secrets = { acme: await token('acme'), other: await token('other'), all: await token() };
  const clientOf = async (of: keyof typeof secrets) => {
    const client = await HttpClient.connect({ url: api.url, token: secrets[of] });
    closeAfterTest(() => client.close());
    return client;
  };
  const clients = {
    acme: await clientOf('acme'),
    other: await clientOf('other'),
    all: await clientOf('all'),
  };
  const start = async (organizationId: string, content = 'hi') => {
    const context = { organizationId };
    const { threadId } = await runtime.client.startThread({
      agent: 'helper',
      context,
      messages: [{ content }],
    });
    await runtime.client.waitForIdle(threadId);
    return threadId;
  };
  return { runtime, api, secrets, clients, start };
}

describe('threads over HTTP', () => {
  it('are listed with their figures and words, sorted and counted, each caller its own', async () => {
    const { runtime, api, secrets, clients, start } = await twoOrganizations();
    const ours = await start('acme', `my key is ${SECRET}`);
    await start('other');
    await runtime.client.setEnv({ thread: ours }, 'KEY', SECRET);
    const shown = {
      id: ours,
      firstWords: 'my key is [secret KEY]',
      lastWords: 'Hello!',
      inputTokens: expect.any(Number),
      waitingFor: null,
      failedCode: null,
    };
    const [thread, ...rest] = await clients.acme.listThreads({ sort: 'tokens' });
    expect([thread, rest]).toEqual([expect.objectContaining(shown), []]);
    expect(thread?.listed.tokens).toBe((thread?.inputTokens ?? 0) + (thread?.outputTokens ?? 0));
    expect(thread?.listed.tokens).toBeGreaterThan(0);
    expect(await clients.acme.getThread(ours)).toMatchObject(shown);
    expect(await clients.acme.getFamily(ours)).toMatchObject([{ thread: shown }]);
    expect(await clients.acme.countThreads()).toEqual({
      total: 1,
      status: { idle: 1 },
      agent: { helper: 1 },
      userId: {},
      organizationId: { acme: 1 },
      tag: {},
    });
    expect(await clients.all.countThreads({ by: ['organizationId'] })).toMatchObject({
      total: 2,
      agent: {},
      organizationId: { acme: 1, other: 1 },
    });
    const headers = { authorization: `Bearer ${secrets.acme}` };
    const asked = async (path: string) => (await api.call('GET', path, undefined, headers)).body;
    expect(await asked('/v1/threads/counts?organizationId=other')).toMatchObject({ total: 1 });
    expect(await asked('/v1/threads/counts?by=words')).toMatchObject({ code: 'InvalidRequest' });
    expect(await asked('/v1/threads?sort=words')).toMatchObject({ code: 'InvalidRequest' });
    expect(await asked(`/v1/threads/${ours}/budget`)).toEqual({
      lines: [],
      members: [
        {
          threadId: ours,
          agent: 'helper',
          parentId: null,
          costUsd: 0,
          inputTokens: thread?.inputTokens,
          outputTokens: thread?.outputTokens,
          steps: 1,
        },
      ],
    });
  });

  it('change in a feed that each token sees of its own threads, by waiting requests and as a stream', async () => {
    const { api, secrets, clients, start } = await twoOrganizations();
    const { cursor } = await clients.acme.listChanges();
    const waits = clients.acme.listChanges({ cursor, waitMs: 25_000 });
    const theirs = await start('other');
    const ours = await start('acme');
    expect((await waits).threads).toMatchObject([{ id: ours }]);

    const stop = new AbortController();
    const seen = { acme: [] as ChangedThread[], other: [] as ChangedThread[] };
    const follow = async (of: 'acme' | 'other') => {
      for await (const { threads } of clients[of].changes({ cursor, signal: stop.signal }))
        seen[of].push(...threads);
    };
    const followed = [follow('acme'), follow('other')];
    const streamed = await fetch(`${api.url}/v1/threads/changes?cursor=${encodeURIComponent(cursor)}`, {
      headers: { accept: 'text/event-stream', authorization: `Bearer ${secrets.acme}` },
      signal: stop.signal,
    });
    expect(streamed.headers.get('content-type')).toContain('text/event-stream');
    let text = '';
    const reading = (async () => {
      for await (const piece of streamed.body?.pipeThrough(new TextDecoderStream()) ?? []) text += piece;
    })().catch(() => undefined);
    const late = await start('acme', 'later');
    await eventually('both threads are in the feeds', () =>
      [ours, late].every((id) => text.includes(id) && seen.acme.some((thread) => thread.id === id)),
    );
    await eventually('the other organisation has its own', () => seen.other.length > 0);
    expect(new Set(seen.other.map(({ id }) => id))).toEqual(new Set([theirs]));
    expect(seen.acme.map(({ id }) => id)).not.toContain(theirs);
    expect(text).not.toContain(theirs);
    // The last event's number is a cursor to resume from.
    const resumed = [...text.matchAll(/^id: (?<id>.+)$/gm)].at(-1)?.groups?.id;
    expect((await clients.acme.listChanges({ cursor: resumed })).threads).toEqual([]);
    stop.abort();
    await Promise.allSettled([...followed, reading]);
    await expect(clients.acme.listChanges({ cursor: 'x' })).rejects.toMatchObject({ code: 'InvalidCursor' });
  });

  it('come with whose token asks, which server answers, and the names of variables, never values', async () => {
    const { runtime, clients, start } = await twoOrganizations();
    expect(await clients.acme.whoami()).toEqual({
      name: 'acme',
      scopes: ['read'],
      userId: null,
      organizationId: 'acme',
    });
    expect(await clients.acme.getServer()).toEqual({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      temporal: {
        address: expect.stringMatching(/^[\w.]+:\d+$/),
        namespace: runtime.client.temporal.options.namespace,
        uiUrl: 'http://127.0.0.1:8233',
      },
    });
    const ours = await start('acme');
    const { client } = runtime;
    await client.setEnv({ thread: ours }, 'CITY', 'Rome', { type: 'text' });
    await client.setEnv({ instance: true }, 'CITY', 'Paris');
    await client.setEnv({ instance: true }, 'KEY', SECRET);
    const variables = await clients.acme.listThreadEnv(ours);
    const at = { updatedAt: expect.any(Number) };
    expect(variables).toEqual([
      { name: 'CITY', type: 'text', source: 'thread', ...at },
      { name: 'CITY', type: 'secret', source: 'instance', overridden: true, ...at },
      { name: 'KEY', type: 'secret', source: 'instance', ...at },
    ]);
    await expect(clients.other.listThreadEnv(ours)).rejects.toMatchObject({ code: 'ThreadNotFound' });
  });
});
