/**
 * Entry points for Workers, run in the Workers runtime itself; `model-catalogue.test.ts` bundles them and runs them in
 * a context without Node's globals.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { says, scriptedModel } from '../../src/testing/index.ts';
import { testApi } from '../support/api.ts';
import { closeAfterTest, testRuntime } from '../support/runtime.ts';
import { bundleForWorker } from './worker-bundle.ts';
import { serveInWorkerd } from './workerd.ts';

const newFolder = () => {
  const folder = join(process.env.EVERTHREAD_TEST_FOLDER as string, randomUUID());
  mkdirSync(folder, { recursive: true });
  return folder;
};

describe('in workerd', () => {
  it('[TG-27] everthread/tangle/models resolves and validates with the fetch of the Worker, and fails closed', async () => {
    const router = createServer((_, response) => {
      response.setHeader('content-type', 'application/json').end('{"data":[{"id":"haiku"}]}');
    });
    await new Promise<void>((resolve) => router.listen(0, '127.0.0.1', resolve));
    closeAfterTest(async () => void router.close());
    const code = `${await bundleForWorker('src/faces/tangle/models.ts')}
      export default {
        async fetch(request, { ROUTER, NOBODY }) {
          const { resolveChatModel, resolveRouterBaseUrl, validateChatModelId } = models;
          const { model } = resolveChatModel([{ source: 'request', model: ' haiku ' }], { source: 'default', model: 'x' });
          const base = (url) => ({ routerBaseUrl: resolveRouterBaseUrl({ TANGLE_ROUTER_URL: url }), allowlist: ['own'] });
          const checked = await Promise.all([
            ...[model, 'unknown', 'rm -rf', 'own'].map((id) => validateChatModelId(id, base(ROUTER))),
            validateChatModelId(model, base(NOBODY)),
          ]);
          return Response.json({ model, checked, node: [typeof process, typeof require] });
        },
      };`;
    const url = await serveInWorkerd(newFolder(), code, {
      ROUTER: `http://127.0.0.1:${(router.address() as AddressInfo).port}/v1`,
      NOBODY: 'http://127.0.0.1:9',
    });
    const { model, checked, node } = (await (await fetch(url)).json()) as Record<string, unknown>;
    expect([model, node]).toEqual(['haiku', ['undefined', 'undefined']]);
    expect(checked).toMatchObject([
      { succeeded: true, value: 'haiku' },
      { succeeded: false, error: expect.stringContaining('not available') },
      { succeeded: false },
      { succeeded: true, value: 'own' },
      { succeeded: false, error: expect.stringContaining('could not') },
    ]);
  }, 300_000);

  it('[TG-12] everthread/tangle/worker serves a chat turn of a remote box, and resumes after the last line', async () => {
    const runtime = await testRuntime({ model: scriptedModel([says('From afar.')]) });
    const api = await testApi(runtime);
    const code = `${await bundleForWorker('src/faces/tangle/worker.ts')}
      export default {
        async fetch(request, { BOX }) {
          const { createChatTurnHandler, remoteBox } = models;
          const box = remoteBox({ url: BOX, agent: 'helper' });
          return createChatTurnHandler({ box, readTurn: (request) => request.json() })(request);
        },
      };`;
    const url = await serveInWorkerd(newFolder(), code, { BOX: api.url });
    const body = JSON.stringify({
      identity: { tenantId: 'acme', userId: 'ada', sessionId: randomUUID(), turnIndex: 0 },
      message: 'hello',
    });
    const say = async (headers = {}) => {
      const response = await fetch(url, { method: 'POST', body, headers });
      return (await response.text())
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    };
    const lines = await say();
    expect([lines[0].type, lines.at(-1).type]).toEqual(['session.run.started', 'session.run.completed']);
    expect(lines.map(({ data }) => data.delta ?? '').join('')).toBe('From afar.');
    expect(await say({ 'last-event-id': lines[0].id })).toEqual(lines.slice(1));
  }, 300_000);
});
