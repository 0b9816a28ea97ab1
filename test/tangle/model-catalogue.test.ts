/** The catalogue of models over real HTTP, and bundled for a Worker. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type BackendTransportError,
  getModels,
  resolveChatModel,
  resolveRouterBaseUrl,
  validateChatModelId,
  withConfiguredModels,
} from '../../src/faces/tangle/models.ts';
import { bundleForWorker, runInWorker } from './worker-bundle.ts';

const LISTED = {
  data: [
    { id: 'openai/gpt-4.1' },
    { id: 'haiku', provider: 'anthropic' },
    { id: 'mixtral', _provider: 'mistral', provider: 'router' },
    { name: 'without an id' },
  ],
};

let server: Server;
let router: string;
let asked: string[] = [];
let answer: { status: number; body: string };

beforeAll(async () => {
  server = createServer(({ url = '' }, response) => {
    asked.push(url);
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => void server.close());
beforeEach(() => {
  asked = [];
  answer = { status: 200, body: JSON.stringify(LISTED) };
  // A different address for each test, since a fetched catalogue is cached for the others.
  const { port } = server.address() as AddressInfo;
  router = `http://127.0.0.1:${port}/${expect.getState().currentTestName?.length}-${Math.floor(performance.now())}`;
});

const check = (model: unknown, allowlist: string[] = []) =>
  validateChatModelId(model, { allowlist, routerBaseUrl: router });

describe('the model catalogue', () => {
  it.each([
    ['blank', ' ', 'model id is empty'],
    ['no text', 7, 'model id is empty'],
    ['malformed', 'gpt 4; rm -rf', 'is not a valid model id'],
    ['too long', 'x'.repeat(201), 'is not a valid model id'],
  ])('[TG-27] refuses a model that is %s without a request', async (_, model, why) => {
    const checked = await check(model);
    expect(checked).toMatchObject({ succeeded: false, error: expect.stringContaining(why) });
    expect(asked).toEqual([]);
  });

  it('[TG-27] accepts a model that the caller allows without a request', async () => {
    expect(await check(' house/own ', ['house/own'])).toEqual({ succeeded: true, value: 'house/own' });
    expect(asked).toEqual([]);
  });

  it('[TG-27] accepts a model that the router lists, also by provider, with one request a minute', async () => {
    for (const model of ['openai/gpt-4.1', 'haiku', 'anthropic/haiku', 'mistral/mixtral'])
      expect(await check(model)).toEqual({ succeeded: true, value: model });
    expect(await check('router/mixtral')).toMatchObject({ succeeded: false });
    expect(await check('openai/gpt-9')).toEqual({
      succeeded: false,
      error: expect.stringContaining('not available'),
    });
    expect(asked).toHaveLength(1);
  });

  it.each([
    ['answers 503', { status: 503, body: '{"error":"down"}' }],
    ['answers no JSON', { status: 200, body: '<html>' }],
  ])('[TG-27] refuses an unverified model if the router %s, and asks again next time', async (_, bad) => {
    answer = bad;
    expect(await check('haiku')).toMatchObject({
      succeeded: false,
      error: expect.stringContaining('could not be validated'),
    });
    answer = { status: 200, body: JSON.stringify(LISTED) };
    expect(await check('haiku')).toMatchObject({ succeeded: true });
  });

  it('[TG-27] refuses an unverified model without a router, or if a loader throws', async () => {
    const nobody = await validateChatModelId('haiku', { routerBaseUrl: 'http://127.0.0.1:1' });
    expect(nobody).toMatchObject({
      succeeded: false,
      error: expect.stringContaining('could not be validated'),
    });
    const bases: string[] = [];
    const loadModels = (base: string) => {
      bases.push(base);
      return Promise.reject(new Error('the loader fell'));
    };
    const fallen = await validateChatModelId('haiku', {
      routerBaseUrl: 'http://127.0.0.1:1/v1/',
      loadModels,
    });
    expect(fallen).toMatchObject({ succeeded: false, error: expect.stringContaining('the loader fell') });
    expect(bases).toEqual(['http://127.0.0.1:1']);
  });

  it('reports the status of a refusal with the beginning of its body', async () => {
    answer = { status: 402, body: 'no credit '.repeat(1000) };
    const error = await getModels(router).catch((thrown: BackendTransportError) => thrown);
    expect(error).toMatchObject({ code: 'BackendFailed', status: 402, backend: 'catalogue' });
    expect((error as BackendTransportError).body).toHaveLength(2049);
    answer = { status: 200, body: '{"data":"none"}' };
    expect(await getModels(router, { maxAgeMs: 0 })).toEqual([]);
  });

  it.each([
    [{}, 'https://router.tangle.tools'],
    [{ TANGLE_ROUTER_URL: 'http://a:1/v1/' }, 'http://a:1'],
    [{ TANGLE_ROUTER_URL: 'http://a:1///', TANGLE_ROUTER_BASE_URL: 'http://b' }, 'http://a:1'],
    [{ TANGLE_ROUTER_BASE_URL: 'http://b/base/v1' }, 'http://b/base'],
    [{ TANGLE_ROUTER_BASE_URL: ' http://b ' }, 'http://b'],
  ])('[TG-28] resolves %j to the router %s', (env, base) => {
    expect(resolveRouterBaseUrl(env)).toBe(base);
  });

  it.each([{ TANGLE_ROUTER_URL: '' }, { TANGLE_ROUTER_URL: 'ftp://a', TANGLE_ROUTER_BASE_URL: 'http://b' }])(
    '[TG-28] refuses %j without an address',
    (env) => {
      expect(() => resolveRouterBaseUrl(env)).toThrow(expect.objectContaining({ code: 'InvalidValue' }));
    },
  );

  it('picks the first candidate that names a model, in the order of the caller', () => {
    const fallback = { source: 'default', model: 'm0' } as const;
    const candidates = [
      { source: 'request', model: '  ' },
      { source: 'workspace', model: null },
      { source: 'env', model: ' m1 ' },
    ];
    expect(resolveChatModel(candidates, fallback)).toEqual({ source: 'env', model: 'm1' });
    expect(resolveChatModel(candidates.slice(0, 2), fallback)).toBe(fallback);
    expect(withConfiguredModels([{ id: 'a' }, { id: 'b' }], [' b ', '', 'c']).map(({ id }) => id)).toEqual([
      'b',
      'c',
      'a',
    ]);
  });
});

describe('everthread/tangle/models, bundled for a Worker', () => {
  it('needs no Node module and no environment, and uses the fetch of the Worker', async () => {
    const code = await bundleForWorker('src/faces/tangle/models.ts');
    const source = `
      const { resolveChatModel, validateChatModelId } = models;
      const { model } = resolveChatModel([{ source: 'request', model: 'haiku' }], { source: 'default', model: 'x' });
      result = Promise.all([model, 'unknown'].map((each) => validateChatModelId(each, { routerBaseUrl: ROUTER })));
    `;
    expect(await runInWorker(code, source, { ROUTER: router })).toEqual([
      { succeeded: true, value: 'haiku' },
      { succeeded: false, error: expect.stringContaining('not available') },
    ]);
  }, 60_000);

  it('contains everthread/tangle/worker without Node: turn, box, backends and rows', async () => {
    const code = await bundleForWorker('src/faces/tangle/worker.ts');
    const source = `result = Object.keys(models).filter((name) => typeof models[name] === 'function');`;
    expect(await runInWorker(code, source, {})).toEqual(
      expect.arrayContaining([
        'handleChatTurn',
        'remoteBox',
        'createOpenAICompatibleBackend',
        'startRuntimeRun',
      ]),
    );
  }, 60_000);

  it('fails to bundle if a Node module is needed', async () => {
    await expect(bundleForWorker('src/client/outgoing.ts')).rejects.toThrow('node:');
  }, 60_000);
});
