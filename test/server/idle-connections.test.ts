/** Connections between requests: how long they stay open, and that the end of the server does not wait for them. */
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { WebSocket } from 'ws';
import { type ServedApi, serveApi, timeoutsFor } from '../../src/cli/serve/serve-api.ts';
import type { Api } from '../../src/server/api/create-api.ts';
import { closeAfterTest } from '../support/runtime.ts';

const PLACE = { host: '127.0.0.1', port: 0 };

/** An API that answers `/` at once, `/held` when it is released, and `/stream` until it closes. */
function heldApi() {
  const gate = Promise.withResolvers<void>();
  const closing = new AbortController();
  const body = () =>
    new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('begun'));
        closing.signal.addEventListener('abort', () => controller.close());
      },
    });
  const asked = Promise.withResolvers<void>();
  const api: Api = {
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === '/held') {
        asked.resolve();
        await gate.promise;
      }
      return new Response(pathname === '/stream' ? body() : 'whole');
    },
    connect: async () => ({
      open: async (socket) => closing.signal.addEventListener('abort', () => socket.close(1001, 'closing')),
    }),
    close: () => closing.abort(),
  };
  return { api, asked: asked.promise, release: gate.resolve };
}

async function serve(api: Api, keepAliveMs?: number): Promise<ServedApi> {
  const served = await serveApi(api, { ...PLACE, ...(keepAliveMs !== undefined && { keepAliveMs }) });
  closeAfterTest(served.close);
  return served;
}

/** Requests over one connection, which is kept. */
function keptConnection(url: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  closeAfterTest(async () => agent.destroy());
  return async (path: string) => {
    const asked = get(url + path, { agent });
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    return { asked, socket: answer.socket, answer, text: answer.toArray().then((chunks) => chunks.join('')) };
  };
}

describe('a connection between two requests', () => {
  it('stays open for 65 seconds by default, longer than load balancers keep theirs, or as configured', async () => {
    const { url } = await serve(heldApi().api);
    const ask = keptConnection(url);
    const first = await ask('/');
    expect(await first.text).toBe('whole');
    expect(first.answer.headers).toMatchObject({ connection: 'keep-alive', 'keep-alive': 'timeout=65' });
    const second = await ask('/');
    expect(await second.text).toBe('whole');
    expect(second.asked.reusedSocket).toBe(true);
    const longer = await serve(heldApi().api, 620_000);
    const { answer, text } = await keptConnection(longer.url)('/');
    expect([await text, answer.headers['keep-alive']]).toEqual(['whole', 'timeout=620']);
  });

  it('is not closed earlier by the timeout for headers', () => {
    for (const keepAliveMs of [65_000, 5000, 620_000]) {
      const { keepAliveTimeout, headersTimeout } = timeoutsFor(keepAliveMs);
      expect(keepAliveTimeout).toBe(keepAliveMs);
      expect(headersTimeout).toBeGreaterThan(Math.max(keepAliveMs, 60_000));
    }
  });
});

describe('the shutdown of a server', () => {
  it('waits for open requests, and closes idle connections', async () => {
    const { api, asked, release } = heldApi();
    const served = await serve(api);
    const { port } = new URL(served.url);
    // One that has answered, one that has not asked, one that reads a stream, and one that waits for its answer.
    const idle = await keptConnection(served.url)('/');
    await idle.text;
    const silent = connect(Number(port), '127.0.0.1');
    closeAfterTest(async () => {
      silent.destroy();
    });
    await once(silent, 'connect');
    const stream = await keptConnection(served.url)('/stream');
    const socket = new WebSocket(`ws://127.0.0.1:${port}/socket`);
    closeAfterTest(async () => socket.terminate());
    await once(socket, 'open');
    const held = keptConnection(served.url)('/held');
    await asked;
    const cut = new AbortController();
    const gone = fetch(`${served.url}/stream`, { signal: cut.signal }).then(({ body }) => body);
    await gone;
    cut.abort();
    const ended = Promise.all([silent, idle.socket, socket].map((each) => once(each, 'close')));
    const closed = served.close();
    expect(await stream.text).toBe('begun');
    expect((await ended).at(-1)?.[0]).toBe(1001);
    release();
    const { answer, text } = await held;
    expect([await text, answer.headers.connection]).toEqual(['whole', 'close']);
    await closed;
    await expect(fetch(served.url)).rejects.toThrow('fetch failed');
  }, 60_000);
});
