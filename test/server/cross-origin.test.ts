/** Pages of another origin: what the server answers a browser before and after it sends a page's request. */
import { describe, expect, it } from '@jest/globals';
import { loopbackAccess, tokenAccess } from '../../src/server/api/access.ts';
import { DEV_ORIGINS, permitOrigins } from '../../src/server/api/cross-origin.ts';
import { API_ROUTES } from '../../src/server/api/routes.ts';
import { STANDARD_ROUTES } from '../../src/server/standard/standard-door.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { testApi } from '../support/api.ts';
import { testRuntime } from '../support/runtime.ts';

const TOKEN = 'page'.padEnd(20, '-');
const PAGE = 'https://app.example';
/** What browsers ask for on behalf of the published clients. */
const ASKED =
  'authorization,content-type,idempotency-key,last-event-id,mcp-session-id,mcp-protocol-version,a2a-version,x-stainless-retry-count,x-thread-id';
const ROUTES = [
  ...API_ROUTES.map(({ method, path }) => [method.toUpperCase(), path.replaceAll(/\{\w+\}/g, 'x')] as const),
  ...STANDARD_ROUTES.map(({ method, path }) => [method, path.replaceAll(/:\w+|\*/g, 'x')] as const),
  ...(['GET', 'POST', 'DELETE'] as const).map((method) => [method, '/mcp'] as const),
  ...[['GET', '/openapi.json'] as const, ['POST', '/api/threads/x/own-endpoint'] as const],
];

const preflight = (url: string, origin: string, method: string) =>
  fetch(url, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': ASKED,
    },
  });

describe('a page of an origin that the server allows', () => {
  it('may call every route before access is checked, and reads every answer, refusals included', async () => {
    const runtime = await testRuntime({ model: scriptedModel([]) });
    const { url } = await testApi(runtime, {
      access: tokenAccess(TOKEN),
      origins: [PAGE],
      bodyBytes: 1000,
      endpoints: { handle: async () => new Response('own') },
    });
    for (const [method, path] of ROUTES) {
      const permitted = await preflight(url + path, PAGE, method);
      const { status, headers } = permitted;
      const allowed = headers.get('access-control-allow-headers')?.toLowerCase().split(/, ?/);
      expect([path, status, headers.get('access-control-allow-origin')]).toEqual([path, 204, PAGE]);
      expect(allowed?.toSorted()).toEqual(ASKED.split(',').toSorted());
      expect(headers.get('access-control-allow-methods')?.split(',')).toContain(method);
      expect(headers.get('access-control-allow-credentials')).toBeNull();
      expect(headers.get('vary')?.toLowerCase()).toContain('origin');
      const answer = await fetch(url + path, { method, headers: { origin: PAGE } });
      await answer.body?.cancel();
      expect([path, answer.headers.get('access-control-allow-origin')]).toEqual([path, PAGE]);
      expect(answer.headers.get('access-control-expose-headers')).toBe('*');
      expect(answer.headers.get('vary')?.toLowerCase()).toContain('origin');
    }
    const headers = { origin: PAGE, authorization: `Bearer ${TOKEN}` };
    const json = { ...headers, 'content-type': 'application/json' };
    const statuses = await Promise.all(
      [
        fetch(`${url}/v1/threads`, { headers }),
        fetch(`${url}/v1/threads/x/own`, { headers }),
        fetch(`${url}/v1/threads`, { method: 'POST', headers: json, body: ' '.repeat(1001) }),
      ].map(async (asked) => [
        (await asked).status,
        (await asked).headers.get('access-control-allow-origin'),
      ]),
    );
    expect(statuses).toEqual([
      [200, PAGE],
      [404, PAGE],
      [413, PAGE],
    ]);
  });

  it('may use any port of this machine under `everthread dev`', async () => {
    const runtime = await testRuntime({ model: scriptedModel([]) });
    const { url } = await testApi(runtime, { access: loopbackAccess, origins: DEV_ORIGINS });
    const tried = [
      'http://localhost:5173',
      'http://127.0.0.1:3000',
      'https://localhost',
      'http://[::1]:8080',
    ];
    for (const origin of tried) {
      expect((await preflight(`${url}/v1/threads`, origin, 'POST')).status).toBe(204);
      const answer = await fetch(`${url}/v1/threads`, { headers: { origin } });
      expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, origin]);
    }
    for (const origin of ['http://localhost.evil.example', 'http://localhost:1@evil.example', 'null']) {
      const refused = await preflight(`${url}/v1/threads`, origin, 'POST');
      expect([origin, refused.status]).toEqual([origin, 403]);
      expect(refused.headers.get('access-control-allow-origin')).toBeNull();
    }
  });
});

describe('a page of another origin', () => {
  it('is refused with the setting that allows it until that is set', async () => {
    const runtime = await testRuntime({ model: scriptedModel([]) });
    const refused = await testApi(runtime, { access: tokenAccess(TOKEN) });
    for (const path of ['/v1/threads', '/mcp', '/api/threads', '/a2a/helper', '/v1/chat/completions']) {
      const answer = await preflight(refused.url + path, PAGE, 'POST');
      expect([path, answer.status]).toEqual([path, 403]);
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
      expect(await answer.text()).toContain(`set EVERTHREAD_API_ORIGINS to ${PAGE}`);
    }
    const { url } = await testApi(runtime, {
      access: tokenAccess(TOKEN),
      origins: ['https://other.example', PAGE],
    });
    expect((await preflight(`${url}/v1/threads`, PAGE, 'POST')).status).toBe(204);
    const headers = { authorization: `Bearer ${TOKEN}`, origin: 'https://evil.example' };
    const answer = await fetch(`${url}/v1/threads`, { headers });
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, null]);
  });
});

describe('EVERTHREAD_API_ORIGINS', () => {
  it('takes origins only, and names a value that is not one', () => {
    const permit = (origin: string) => permitOrigins([origin], async () => new Response());
    for (const right of ['http://localhost:*', 'https://a.example:8443', 'chrome-extension://abc'])
      expect(permit(right)).toBeInstanceOf(Function);
    for (const wrong of ['*', 'a.example', 'https://a.example/', 'https://*.example', 'https://a.example/x'])
      expect(() => permit(wrong)).toThrow(`EVERTHREAD_API_ORIGINS: "${wrong}" is not an origin`);
  });
});
