/**
 * The page at `/ui` (src/ui): one HTML file without data, the same for everybody. What it shows it reads by the API's
 * routes, with the token that its user gives it.
 * - The policy of its response permits its own script and style by their hashes, requests to its own server, and nothing
 *   else: text of others that became code would not run, and could send nothing elsewhere.
 */
import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { SAFE_HEADERS } from './problem.ts';

interface Page {
  readonly html: string;
  readonly compressed: Uint8Array<ArrayBuffer>;
  readonly headers: Readonly<Record<string, string>>;
}

const BUILT = new URL('../../ui/index.html', import.meta.url);
const BUILDER = new URL('../../../scripts/build-page.ts', import.meta.url);

let loaded: Promise<Page> | undefined;

export async function pageResponse({ headers: asked }: Request): Promise<Response> {
  loaded ??= loadPage();
  // A page that could not be read is read again for the next request.
  const { html, compressed, headers } = await loaded.catch((error: unknown) => {
    loaded = undefined;
    throw error;
  });
  if (asked.get('if-none-match')?.includes(headers.etag ?? ''))
    return new Response(null, { status: 304, headers });
  return asked.get('accept-encoding')?.includes('gzip')
    ? new Response(compressed, { headers: { ...headers, 'content-encoding': 'gzip' } })
    : new Response(html, { headers });
}

async function loadPage(): Promise<Page> {
  const html = await readPage();
  const part = (pattern: RegExp) => `'sha256-${hash('sha256', pattern.exec(html)?.[1] ?? '', 'base64')}'`;
  const policy = [
    "default-src 'none'",
    `script-src ${part(/<script>([\s\S]*)<\/script>/)}`,
    `style-src ${part(/<style>([\s\S]*?)<\/style>/)}`,
    "connect-src 'self'",
    'img-src blob: data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ];
  const [, version = ''] = /<meta name="version" content="(\w+)">/.exec(html) ?? [];
  return {
    html,
    compressed: new Uint8Array(gzipSync(html)),
    headers: {
      ...SAFE_HEADERS,
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy.join('; '),
      'cross-origin-opener-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
      vary: 'accept-encoding',
      // Kept by nobody unasked: an old page notices by it that the server has another one.
      'cache-control': 'no-cache',
      etag: `"${version}"`,
    },
  };
}

/** The packaged file; in a clone it is built of the sources. */
async function readPage(): Promise<string> {
  if (existsSync(BUILT)) return readFile(BUILT, 'utf8');
  const { buildPage } = (await import(BUILDER.href)) as { buildPage: () => Promise<string> };
  return buildPage();
}
