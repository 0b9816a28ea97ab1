/**
 * A page in a browser that was loaded from another port than the API's. Skipped if this machine has no browser
 * (`EVERTHREAD_BROWSER`).
 */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { rolldown } from 'rolldown';
import { findBrowser, openBrowser, openPage } from '../../scripts/web/browser.ts';
import { tokenAccess } from '../../src/server/api/access.ts';
import { says, scriptedModel } from '../../src/testing/index.ts';
import { testApi } from '../support/api.ts';
import { closeAfterTest, testRuntime } from '../support/runtime.ts';

const TOKEN = 'page'.padEnd(20, '-');
const HELPER = { name: 'helper', title: null, description: null };
const program = findBrowser();
const inBrowser = program ? describe : describe.skip;

/** Serves the page, and returns its origin. */
async function servePage(): Promise<string> {
  const file = join(process.env.EVERTHREAD_TEST_FOLDER as string, `${randomUUID()}.js`);
  const bundle = await rolldown({
    input: 'test/support/foreign-page.mjs',
    platform: 'browser',
    checks: { importIsUndefined: false, moduleLevelDirective: false },
  });
  await bundle.write({ file, format: 'iife', codeSplitting: false });
  await bundle.close();
  const code = await readFile(file);
  const server = createServer(({ url }, response) => {
    const isCode = url === '/page.js';
    response.setHeader('content-type', isCode ? 'text/javascript' : 'text/html; charset=utf-8');
    response.end(isCode ? code : '<!doctype html><title>Page</title><script src="/page.js"></script>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closeAfterTest(async () => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

inBrowser('a page from another port', () => {
  it('calls every endpoint with the published clients once its origin is allowed, and none before', async () => {
    const runtime = await testRuntime({ model: scriptedModel(() => says('heard hi')) });
    const page = await servePage();
    const options = {
      access: tokenAccess(TOKEN),
      agents: () => [HELPER],
      endpoints: {
        handle: async ({ headers }: Request) =>
          new Response('', { headers: { 'x-own': headers.get('x-own') ?? '' } }),
      },
    };
    const [allowed, refused] = await Promise.all([
      testApi(runtime, { ...options, origins: [page] }),
      testApi(runtime, options),
    ]);
    const browser = await openBrowser(program as string);
    closeAfterTest(() => browser.close());
    const opened = await openPage(browser, `${page}/?api=${allowed.url}&token=${TOKEN}`);
    const answers = (await opened.evaluate('results')) as Record<string, string>;
    const doors = Object.keys(answers);
    expect(answers).toEqual(Object.fromEntries(doors.map((door) => [door, 'heard hi'])));
    expect(doors).toHaveLength(9);
    const ask = `fetch('${refused.url}/v1/models', { headers: { authorization: 'Bearer ${TOKEN}' } })`;
    expect(await opened.evaluate(`${ask}.then(() => 'read', ({ name }) => name)`)).toBe('TypeError');
  }, 120_000);
});
