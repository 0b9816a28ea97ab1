/** The file that is served at `/ui`, and the headers that keep what it shows from becoming code. */
import { hash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import type { RuntimeClient } from '../../src/client/runtime-client.ts';
import { tokenAccess } from '../../src/server/api/access.ts';
import { createApi } from '../../src/server/api/create-api.ts';

const LARGEST = 50 * 1024;
const api = createApi({
  client: { store: {} } as RuntimeClient,
  access: tokenAccess('page'.padEnd(20, '-')),
});
const get = (headers: Record<string, string> = {}, method = 'GET') =>
  api.fetch(new Request('http://localhost/ui', { method, headers }));

describe('the page at /ui', () => {
  it('is one file of at most 50 KB compressed, which names no other file and is served without a token', async () => {
    const response = await get();
    expect(response.status).toBe(200);
    const html = await response.text();
    expect(gzipSync(html).length).toBeLessThanOrEqual(LARGEST);
    expect(html.match(/<(script|img|iframe|link)[^>]+(src|href)="[^"]*"/g)).toEqual([
      '<link rel="icon" href="data:,"',
    ]);
    // Names of markup languages, and an example in the text of an error.
    const addresses = new Set(html.match(/https?:\/\/[\w.-]+\.[a-z]{2,}/g));
    expect([...addresses].sort()).toEqual(['http://www.w3.org', 'https://agents.example.com']);
    const compressed = await get({ 'accept-encoding': 'br, gzip' });
    expect(compressed.headers.get('content-encoding')).toBe('gzip');
    expect(gunzipSync(Buffer.from(await compressed.arrayBuffer())).toString()).toBe(html);
  });

  it('permits its own script and style by their hashes, requests to its server, and nothing else', async () => {
    const response = await get();
    const html = await response.text();
    const policy = response.headers.get('content-security-policy')?.split('; ');
    const code = /<script>([\s\S]*)<\/script>/.exec(html)?.[1] ?? '';
    const style = /<style>([\s\S]*)<\/style>/.exec(html)?.[1] ?? '';
    expect(code.length).toBeGreaterThan(10_000);
    expect(policy).toEqual([
      "default-src 'none'",
      `script-src 'sha256-${hash('sha256', code, 'base64')}'`,
      `style-src 'sha256-${hash('sha256', style, 'base64')}'`,
      "connect-src 'self'",
      'img-src blob: data:',
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ]);
    expect(response.headers.get('referrer-policy')).toBe('no-referrer');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(html).not.toMatch(/\son\w+=/);
  });

  it('answers 304 to whoever has the same version, and tells its version to HEAD', async () => {
    const etag = (await get({}, 'HEAD')).headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[0-9a-f]{16}"$/);
    expect((await get({ 'if-none-match': etag })).status).toBe(304);
    expect((await get({ 'if-none-match': '"0123456789abcdef"' })).status).toBe(200);
  });
});
