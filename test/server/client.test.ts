/**
 * The client over HTTP compared with the one on the store: the same methods and results, over connections that break.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { HttpClient, HttpConnectOptions, ThreadsClient } from '../../src/client/index.ts';
import { RuntimeClient } from '../../src/client/runtime-client.ts';
import { defineTool } from '../../src/definitions/index.ts';
import { tokenAccess } from '../../src/server/index.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { testApi } from '../support/api.ts';
import { type CuttingProxy, cuttingProxy } from '../support/cutting-proxy.ts';
import { PROGRAM_OPTIONS } from '../support/program-options.ts';
import { closeAfterTest, type TestRuntime, testRuntime } from '../support/runtime.ts';

async function connectTo(url: string, options: Partial<HttpConnectOptions> = {}): Promise<HttpClient> {
  const client = await RuntimeClient.connect({ url, patienceMs: 120_000, ...options });
  closeAfterTest(() => client.close());
  return client;
}

async function listed<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** A tool that ends when `letOn` is called. */
function gated() {
  const gate = Promise.withResolvers<void>();
  const tool = defineTool({
    description: 'looks',
    async execute(state) {
      await state.setValue('seen', { at: 1 });
      await state.writeFile('/notes/one.txt', new TextEncoder().encode('one'), 'text/plain');
      await gate.promise;
      return { status: 'success', result: 'seen' };
    },
  });
  return { tool, letOn: () => gate.resolve() };
}

const TEXT = Array.from({ length: 60 }, (_, n) => `word-${n}`).join(' ');

async function lookingRuntime() {
  const look = gated();
  const model = scriptedModel([
    calls('look', {}, { text: TEXT, chunks: 30, chunkDelayMs: 5 }),
    says(TEXT.toUpperCase(), { chunks: 30, chunkDelayMs: 5 }),
  ]);
  const runtime = await testRuntime({ model, tools: { look: look.tool } });
  return { runtime, look };
}

describe('the client over HTTP', () => {
  it('returns what the client on the store returns: records, lists, logs, files and error codes', async () => {
    const { runtime, look } = await lookingRuntime();
    const api = await testApi(runtime);
    const http = await connectTo(api.url);
    look.letOn();
    const { threadId } = await http.startThread({ agent: 'helper', messages: [{ content: 'hi' }] });
    const rested = await http.waitForIdle(threadId, { timeoutMs: 120_000 });
    expect(rested).toMatchObject({ id: threadId, status: 'idle' });
    const [run] = await http.runs.list({ threadId });
    const runId = run?.id ?? '';
    const asked: Readonly<Record<string, (client: ThreadsClient) => Promise<unknown>>> = {
      getThread: (client) => client.getThread(threadId),
      'getThread of none': (client) => client.getThread('nowhere'),
      getFamily: (client) => client.getFamily(threadId),
      getBudget: (client) => client.getBudget(threadId),
      listThreads: (client) => client.listThreads({ status: 'idle', limit: 1 }),
      'listThreads of no number': (client) => client.listThreads({ limit: 0 }),
      getMessages: (client) => client.getMessages(threadId, { limit: 2, order: 'desc' }),
      'getMessages of none': (client) => client.getMessages('nowhere'),
      'getMessages of a wrong order': (client) => client.getMessages(threadId, { order: 'up' as 'asc' }),
      'getMessage of none': (client) => client.getMessage(threadId, 'none'),
      getLogs: (client) => client.getLogs(threadId, { limit: 3 }),
      events: (client) => listed(client.events(threadId, { follow: false })),
      'events after': (client) => listed(client.events(threadId, { after: 5, follow: false })),
      'events of no number': async (client) => listed(client.events(threadId, { after: -1 })),
      'events as run': (client) => listed(client.events(threadId, { as: 'run', follow: false })),
      'events of a run': (client) => listed(client.events(threadId, { as: 'run', run: runId })),
      'events of no run': (client) => listed(client.events(threadId, { as: 'run', run: 'none' })),
      'events as agenticx': (client) => listed(client.events(threadId, { as: 'agenticx', follow: false })),
      listEffects: (client) => client.listEffects(threadId),
      removeEffect: (client) => client.removeEffect(threadId, 'none'),
      listWaits: (client) => client.listWaits({ threadId }),
      'getWait of none': (client) => client.getWait('none'),
      readdir: (client) => client.files(threadId).readdir('/notes'),
      read: (client) => client.files(threadId).read('/notes/one.txt'),
      'read of none': (client) => client.files(threadId).read('/notes/none.txt'),
      value: (client) => client.values(threadId).get('seen'),
      'value of none': (client) => client.values(threadId).get('none'),
      values: (client) => client.values(threadId).list(),
      'runs.get': (client) => client.runs.get(runId),
      'runs.get of none': (client) => client.runs.get('none'),
      'runs.report': (client) => client.runs.report(runId),
      'cancel of what has ended': (client) => client.cancelExecution(threadId, { executionId: runId }),
      'a message without content': (client) => client.queueMessage(threadId, { content: '' }),
      'metadata that JSON changes': (client) =>
        client.queueMessage(threadId, { content: 'x', metadata: { at: Number.NaN } }),
      'a start under a wrong id': (client) => client.startThread({ agent: 'helper', threadId: 'a b' }),
      'a start of what is there': (client) => client.startThread({ agent: 'helper', threadId }),
    };
    const outcome = (client: ThreadsClient, ask: (client: ThreadsClient) => Promise<unknown>) =>
      ask(client).then(
        (value) => ({ value }),
        ({ name, code, message }) => ({ name, code, message }),
      );
    for (const [name, ask] of Object.entries(asked))
      expect([name, await outcome(http, ask)]).toEqual([name, await outcome(runtime.client, ask)]);

    await http.terminate(threadId, 'over');
    for (const client of [http, runtime.client] as ThreadsClient[])
      await expect(client.queueMessage(threadId, { content: 'x' })).rejects.toMatchObject({
        name: 'RuntimeError',
        code: 'ThreadTerminated',
      });
  });

  it('reports why it cannot connect, and which scope a token lacks', async () => {
    const runtime = await testRuntime({ model: scriptedModel([]) });
    const api = await testApi(runtime, { access: tokenAccess('reader-of-threads=read') });
    const stranger = await connectTo(api.url);
    await expect(stranger.listThreads()).rejects.toMatchObject({ code: 'Unauthorized' });
    const reader = await connectTo(api.url, { token: 'reader-of-threads' });
    expect(await reader.listThreads({ agent: 'nobody' })).toEqual([]);
    await expect(reader.startThread({ agent: 'helper' })).rejects.toMatchObject({ code: 'Forbidden' });
    await expect(listed(stranger.events('nowhere'))).rejects.toMatchObject({ code: 'Unauthorized' });
    await expect(connectTo('nowhere')).rejects.toMatchObject({ code: 'InvalidConfiguration' });
    await api.close();
    const away = connectTo(api.url, { patienceMs: 0 });
    await expect(away).rejects.toMatchObject({ code: 'ServerUnavailable' });
  });

  it('sends a request again after its answer was lost, without starting a second thread', async () => {
    const runtime = await testRuntime({ model: scriptedModel(() => says('yes')) });
    const proxy = await cuttingProxy((await testApi(runtime)).url);
    const http = await connectTo(proxy.url);
    proxy.cut(0);
    const { threadId } = await http.startThread({ agent: 'helper', messages: [{ content: 'first' }] });
    expect(proxy.cuts).toBe(1);
    proxy.cut(0, 40);
    await http.queueMessage(threadId, { content: 'second' });
    expect(proxy.cuts).toBe(3);
    await http.waitForIdle(threadId, { timeoutMs: 120_000 });
    const { messages } = await http.getMessages(threadId);
    const said = messages.filter(({ role }) => role === 'user').map(({ content }) => content);
    expect(said).toEqual(['first', 'second']);
    // A request is not repeated if it could have another effect the second time.
    proxy.cut(0);
    await expect(http.stop(threadId)).rejects.toMatchObject({ code: 'ServerUnavailable' });
    expect(proxy.cuts).toBe(4);
    const chosen = http.startThread({ agent: 'helper', threadId });
    await expect(chosen).rejects.toMatchObject({ code: 'InvalidStart' });
  });

  it('ends a wait or a read as soon as it is aborted, and ends its reads when the client closes', async () => {
    const { runtime, look } = await lookingRuntime();
    const http = await connectTo((await testApi(runtime)).url);
    const { threadId } = await http.startThread({ agent: 'helper', messages: [{ content: 'hi' }] });
    const leaving = new AbortController();
    const wait = http.waitForIdle(threadId, { timeoutMs: 600_000, signal: leaving.signal });
    const read = listed(http.events(threadId, { signal: leaving.signal }));
    leaving.abort(new Error('left'));
    await expect(wait).rejects.toThrow('left');
    expect(await read).toEqual([]);
    await expect(http.waitForIdle(threadId, { timeoutMs: 1 })).rejects.toMatchObject({ code: 'Timeout' });
    const rest = listed(http.events(threadId));
    await http.close();
    await rest;
    await expect(http.getThread(threadId)).rejects.toMatchObject({ code: 'ServerUnavailable' });
    look.letOn();
    await runtime.client.waitForIdle(threadId);
  });

  it('resumes reading after a connection cut amid events, and through a proxy that buffers responses', async () => {
    const { runtime, look } = await lookingRuntime();
    look.letOn();
    const api = await testApi(runtime);
    const proxy = await cuttingProxy(api.url);
    const http = await connectTo(proxy.url);
    const held = await connectTo(await holdingProxy(api.url), { openWithinMs: 300 });
    const { threadId } = await http.startThread({ agent: 'helper', messages: [{ content: 'hi' }] });
    const readers = readAll(http, threadId, [proxy]);
    const behind = readAll(held, threadId, []);
    await runtime.client.waitForIdle(threadId);
    await runtime.client.terminate(threadId);
    await runtime.client.waitForIdle(threadId);
    const rows = await listed(runtime.client.events(threadId, { follow: false }));
    for (const told of await Promise.all([...readers, ...behind])) expect(told).toEqual(rows);
    const runs = await listed(runtime.client.events(threadId, { as: 'run', follow: false }));
    // Cut every few hundred bytes, whatever is being sent.
    proxy.cut(...Array.from({ length: 25 }, (_, n) => 250 + 137 * n));
    expect(await listed(http.events(threadId, { as: 'run', follow: false }))).toEqual(runs);
    expect(proxy.cuts).toBeGreaterThan(5);
  });

  it('[PL-27] resumes reading after a server is killed during an answer: five readers, each row once, one end', async () => {
    const { runtime, look } = await lookingRuntime();
    const first = await apiProcess(runtime, 0);
    const readers = await Promise.all(Array.from({ length: 5 }, () => connectTo(first.url)));
    const { threadId } = await runtime.client.startThread({
      agent: 'helper',
      messages: [{ content: 'hi' }],
    });
    const midway = Promise.withResolvers<void>();
    const reading = readers.map(async (client, n) => {
      const rows = [];
      for await (const row of client.events(threadId)) {
        rows.push(row);
        if (n === 0 && row.type === 'model.chunk') midway.resolve();
      }
      return rows;
    });
    await midway.promise;
    first.process.kill('SIGKILL');
    await once(first.process, 'exit');
    await apiProcess(runtime, first.port);
    look.letOn();
    await runtime.client.waitForIdle(threadId);
    await runtime.client.terminate(threadId);
    const told = await Promise.all(reading);
    const rows = await listed(runtime.client.events(threadId, { follow: false }));
    for (const each of told) {
      expect(each).toEqual(rows);
      expect(each.filter(({ type }) => type === 'thread.terminated')).toHaveLength(1);
    }
    const { messages } = await runtime.client.getMessages(threadId);
    const answers = messages.filter(({ role }) => role === 'assistant').map(({ content }) => content);
    expect(answers).toEqual([TEXT, TEXT.toUpperCase()]);
  });
});

/** A reader from the beginning, and one that leaves and returns after each row. */
function readAll(client: HttpClient, threadId: string, [proxy]: readonly CuttingProxy[]) {
  proxy?.cut(...Array.from({ length: 12 }, (_, n) => 300 + 211 * n));
  const straight = listed(client.events(threadId));
  const again = (async () => {
    const rows = [];
    for (let after = 0; ; after = rows.length) {
      const reading = client.events(threadId, { after })[Symbol.asyncIterator]();
      const { done, value } = await reading.next();
      if (done) return rows;
      rows.push(value);
      for (let more = 0; more < 20; more++) {
        const next = await reading.next();
        if (next.done) return rows;
        rows.push(next.value);
      }
      await reading.return?.();
    }
  })();
  return [straight, again];
}

/** A proxy that forwards a response only once it has ended, as some do. */
async function holdingProxy(target: string): Promise<string> {
  const server = createServer(async ({ url, method, headers }, response) => {
    const leaving = new AbortController();
    response.on('close', () => leaving.abort());
    const { accept = '*/*' } = headers;
    try {
      const answer = await fetch(`${target}${url}`, { method, headers: { accept }, signal: leaving.signal });
      const body = Buffer.from(await answer.arrayBuffer());
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
      response.end(body);
    } catch {
      response.destroy();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closeAfterTest(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

interface ApiProcess {
  readonly process: ChildProcess;
  readonly url: string;
  readonly port: number;
}

async function apiProcess({ store, taskQueue }: TestRuntime, port: number): Promise<ApiProcess> {
  const path = store.place.replace('SQLite at ', '');
  const program = join(import.meta.dirname, '..', 'support', 'api-process.ts');
  const child = fork(program, [`sqlite:${path}?synchronous=normal`, taskQueue, String(port)], {
    execArgv: [...PROGRAM_OPTIONS],
  });
  closeAfterTest(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  const [taken] = (await once(child, 'message')) as [number];
  return { process: child, url: `http://127.0.0.1:${taken}`, port: taken };
}
