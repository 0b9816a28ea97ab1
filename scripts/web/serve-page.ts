/** Serves the page and the HTTP API at one address, as a web page needs them: `/page?id=CHAT&agent=AGENT&ui=7`. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Api } from '../../src/server/index.ts';

const STYLE = `body { font: 16px/1.5 system-ui, sans-serif; max-width: 42rem; margin: 2rem auto; padding: 0 1rem; color: #1c2733 }
article { border-radius: 12px; padding: .25rem 1rem; margin: .75rem 0; background: #eef2f6; white-space: pre-wrap }
article[data-role=user] { background: #d7e8ff; margin-left: 6rem }
[data-tool] { color: #56657a; font-size: 14px; white-space: normal; max-height: 3em; overflow: hidden } [data-error] { color: #b3261e }
form { display: flex; gap: .5rem; margin-top: 1rem } input { flex: 1 } input, button { font: inherit; padding: .4rem .8rem }`;

/** `folder` holds the bundles. */
export function withPage(api: Api, folder: string): Api {
  return {
    ...api,
    async fetch(request) {
      const { pathname, searchParams } = new URL(request.url);
      if (pathname === '/page') return html(searchParams.get('ui') ?? '6');
      const [, bundle] = /^\/(page-[567]\.js)$/.exec(pathname) ?? [];
      if (bundle === undefined) return api.fetch(request);
      const code = await readFile(join(folder, bundle));
      return new Response(code, { headers: { 'content-type': 'text/javascript; charset=utf-8' } });
    },
  };
}

function html(ui: string): Response {
  const version = /^[567]$/.test(ui) ? ui : '6';
  const text = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Chat</title><link rel="icon" href="data:,"><style>${STYLE}</style>
<div id="chat"></div><script src="/page-${version}.js"></script></html>`;
  return new Response(text, { headers: { 'content-type': 'text/html; charset=utf-8' } });
}
