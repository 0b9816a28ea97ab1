/** Files of a thread over HTTP: written, read whole and in part, removed, and accessed by signed addresses. */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from '@jest/globals';
import { RuntimeClient } from '../../src/client/runtime-client.ts';
import { tokenAccess } from '../../src/server/api/access.ts';
import { openStore } from '../../src/store/open-store.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { testApi } from '../support/api.ts';
import { closeAfterTest, eventually, type RuntimeOptions, testRuntime } from '../support/runtime.ts';

const TOKEN = 'all-of-this-server--';
const ALL = { authorization: `Bearer ${TOKEN}` };

async function serve(options: Pick<RuntimeOptions, 'store'> = {}) {
  const runtime = await testRuntime({ model: scriptedModel([]), ...options });
  const api = await testApi(runtime, {
    access: tokenAccess(TOKEN),
    // A file may exceed the limit on bodies that are held in memory.
    bodyBytes: 1024 * 1024,
    fileBytes: 3 * 1024 * 1024,
  });
  const thread = await runtime.start();
  const base = `${api.url}/v1/threads/${thread}/file`;
  const at = (path: string) => `${base}?path=${encodeURIComponent(path)}`;
  const put = (path: string, body: Uint8Array<ArrayBuffer> | string, type = 'text/plain') =>
    fetch(at(path), { method: 'PUT', body, headers: { ...ALL, 'content-type': type } });
  const get = (path: string, headers = {}) => fetch(at(path), { headers: { ...ALL, ...headers } });
  return { runtime, api, thread, at, put, get };
}

async function codeOf(response: Response): Promise<unknown> {
  return ((await response.json()) as { readonly code: unknown }).code;
}

describe('files of a thread over HTTP', () => {
  it('are written, read whole and by byte range, revalidated by their ETag, and removed', async () => {
    const { put, get, at } = await serve();
    // The content has three chunks.
    const bytes = new Uint8Array(randomBytes(2 * 1024 * 1024 + 100));
    const written = await put('/docs/a.bin', bytes, 'application/octet-stream');
    expect(await written.json()).toMatchObject({ path: '/docs/a.bin', size: bytes.length });
    const whole = await get('/docs/a.bin');
    expect(whole.headers.get('content-length')).toBe(String(bytes.length));
    expect(Buffer.from(await whole.arrayBuffer()).equals(bytes)).toBe(true);
    const etag = whole.headers.get('etag') ?? '';
    for (const [range, first, last] of [
      ['bytes=0-9', 0, 9],
      ['bytes=1048570-1048590', 1048570, 1048590],
      ['bytes=2097100-', 2097100, bytes.length - 1],
      ['bytes=-5', bytes.length - 5, bytes.length - 1],
      ['bytes=5-99999999', 5, bytes.length - 1],
    ] as const) {
      const part = await get('/docs/a.bin', { range });
      const told = [part.status, part.headers.get('content-range')];
      expect([range, ...told]).toEqual([range, 206, `bytes ${first}-${last}/${bytes.length}`]);
      expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(first, last + 1))).toBe(true);
    }
    const beyond = await get('/docs/a.bin', { range: `bytes=${bytes.length}-` });
    expect([beyond.status, await codeOf(beyond)]).toEqual([416, 'InvalidRange']);
    expect((await get('/docs/a.bin', { 'if-none-match': etag })).status).toBe(304);
    await (await put('/docs/a.bin', 'other')).json();
    const other = await get('/docs/a.bin', { 'if-none-match': etag, 'if-range': etag, range: 'bytes=0-1' });
    // A client that has a part of the old content receives all of the new content.
    expect([other.status, await other.text()]).toEqual([200, 'other']);
    expect((await get('/none')).status).toBe(404);
    const remove = () => fetch(at('/docs/a.bin'), { method: 'DELETE', headers: ALL });
    expect([(await remove()).status, (await remove()).status]).toEqual([200, 404]);
  });

  it('are never executed by a browser, and are limited in size', async () => {
    const { put, get } = await serve();
    await (await put('/page.html', '<script>alert(1)</script>', 'text/html')).json();
    const { headers } = await get('/page.html');
    expect(headers.get('content-disposition')).toMatch(/^attachment/);
    expect(headers.get('content-security-policy')).toContain('sandbox');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    const large = await put('/large', new Uint8Array(3 * 1024 * 1024 + 1));
    expect([large.status, await codeOf(large)]).toEqual([413, 'RequestTooLarge']);
    const typed = await put('/odd', 'x', 'no type');
    expect([typed.status, await codeOf(typed)]).toEqual([400, 'InvalidValue']);
    const outside = await put('/', 'x');
    expect([outside.status, await codeOf(outside)]).toEqual([409, 'FileConflict']);
  });

  it('are streamed, and an interrupted upload leaves nothing in the store', async () => {
    const folder = join(process.env.EVERTHREAD_TEST_FOLDER as string, randomUUID());
    mkdirSync(folder, { recursive: true });
    const store = await openStore('sqlite:store.db?synchronous=normal', folder);
    closeAfterTest(() => store.close());
    const database = new DatabaseSync(join(folder, 'store.db'), { readOnly: true });
    closeAfterTest(async () => database.close());
    const uploads = () => Number(database.prepare('select count(*) as n from blob_uploads').get()?.n);
    const { runtime, at, put, thread } = await serve({ store });
    await (await put('/kept', 'as it was')).json();
    const begun = Promise.withResolvers<void>();
    const leaving = new AbortController();
    async function* slowly() {
      yield new Uint8Array(2 * 1024 * 1024);
      begun.resolve();
      await new Promise((_, reject) =>
        leaving.signal.addEventListener('abort', () => reject(leaving.signal.reason)),
      );
    }
    const body = ReadableStream.from(slowly());
    const sent = fetch(at('/kept'), {
      method: 'PUT',
      body,
      headers: ALL,
      signal: leaving.signal,
      duplex: 'half',
    } as RequestInit);
    await begun.promise;
    await eventually('its first chunks are stored', () => uploads() === 1);
    leaving.abort(new Error('the page was closed'));
    await expect(sent).rejects.toThrow('the page was closed');
    await eventually('what had come is gone', () => uploads() === 0);
    expect(
      Buffer.from((await runtime.client.files(thread).read('/kept')) ?? new ArrayBuffer(0)).toString(),
    ).toBe('as it was');
    const untold = new Uint8Array(1024 * 1024);
    const long = (async function* () {
      for (let n = 0; n < 4; n++) yield untold;
    })();
    const large = await fetch(at('/large'), {
      method: 'PUT',
      body: ReadableStream.from(long),
      headers: ALL,
      duplex: 'half',
    } as RequestInit);
    expect([large.status, await codeOf(large)]).toEqual([413, 'RequestTooLarge']);
    expect(uploads()).toBe(0);
  });

  it('are written by the client over HTTP, from bytes and from a stream', async () => {
    const { api, thread, get } = await serve();
    const client = await RuntimeClient.connect({ url: api.url, token: TOKEN });
    closeAfterTest(() => client.close());
    const bytes = new Uint8Array(randomBytes(2 * 1024 * 1024 + 1));
    const files = client.files(thread);
    const file = { path: '/a.bin', mimeType: 'application/octet-stream' };
    expect(await files.write({ ...file, content: bytes })).toMatchObject({ size: bytes.length });
    const parts = (async function* () {
      for (let at = 0; at < bytes.length; at += 700_000) yield bytes.subarray(at, at + 700_000);
    })();
    expect(await files.write({ ...file, path: '/b.bin', content: parts })).toMatchObject({
      size: bytes.length,
    });
    const [a, b] = await Promise.all(['/a.bin', '/b.bin'].map((path) => get(path)));
    expect(a?.headers.get('etag')).toBe(b?.headers.get('etag'));
    await expect(
      files.write({ ...file, content: new Uint8Array(3 * 1024 * 1024 + 1) }),
    ).rejects.toMatchObject({ code: 'RequestTooLarge' });
    await expect(files.write({ ...file, content: bytes, metadata: { a: 1 } })).rejects.toMatchObject({
      code: 'InvalidRequest',
    });
  });

  it('are read without a token by an address signed for one file, until it expires', async () => {
    const { api, thread, put } = await serve();
    await (await put('/a.txt', 'for everybody')).json();
    await (await put('/b.txt', 'for nobody')).json();
    const sign = (path: string, more = {}) =>
      api.call('POST', `/v1/threads/${thread}/file/address`, { path, ...more }, ALL);
    const { status, body } = await sign('/a.txt', { lifeSeconds: 60 });
    expect(status).toBe(201);
    const read = async (address: string, init?: RequestInit) => {
      const response = await fetch(api.url + address, init);
      return [response.status, await response.text()];
    };
    expect(await read(body.address)).toEqual([200, 'for everybody']);
    const refused = [403, expect.stringContaining('Forbidden')];
    expect(await read(body.address.replace('a.txt', 'b.txt'))).toEqual(refused);
    expect(await read(body.address.replace(/expires=\d+/, 'expires=9999999999'))).toEqual(refused);
    expect(await read(body.address.replace(/signature=.*/, 'signature=x'))).toEqual(refused);
    // A signed address allows reading only.
    expect((await read(body.address, { method: 'DELETE' }))[0]).toBe(401);
    expect((await read(`/v1/threads/${thread}/file?path=/a.txt`))[0]).toBe(401);
    expect((await sign('/none')).body.code).toBe('FileNotFound');
    expect((await sign('/a.txt', { lifeSeconds: 10 ** 9 })).body.code).toBe('InvalidRequest');
  });
});
