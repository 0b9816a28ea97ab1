/**
 * The fourth scenario: a page of `useChat` in a browser. It asks the question over HTTP, the worker is killed in
 * mid-answer, and the page continues without a reload; nothing in it knows of workers. If this machine has no browser,
 * the user opens the page.
 */
import { join } from 'node:path';
import type { Page } from 'puppeteer-core';
import { serveApi } from '../../src/cli/serve/serve-api.ts';
import { createApi } from '../../src/server/index.ts';
import { look, say } from '../web/browser.ts';
import { bundlePage } from '../web/bundle-page.ts';
import { withPage } from '../web/serve-page.ts';
import { MODEL_MS, openInBrowser, playCutAnswer, until } from './cut-answer.ts';
import type { Finding } from './promise.ts';
import { printPromises, printRunning, printTranscript } from './report.ts';
import type { Theatre } from './theatre.ts';

const PICTURE = 'web.png';

export async function performWeb(theatre: Theatre): Promise<boolean> {
  const { screen, client, threadId, stack, options, folder } = theatre;
  await bundlePage(folder, ['7']);
  const served = await serveApi(withPage(createApi({ client }), folder), { host: '127.0.0.1', port: 0 });
  stack.defer(() => served.close());
  const address = `${served.url}/page?id=${threadId}&agent=librarian&ui=7`;
  screen.say('server', `a page of useChat at ${address}`);
  const page = await openInBrowser(theatre, address);
  let loads = 0;
  page?.on('load', () => {
    loads += 1;
  });
  if (page) {
    screen.say('you', options.question);
    await say(page, options.question);
  } else
    screen.say(
      'note',
      `No browser was found (EVERTHREAD_BROWSER): open the page, and ask: ${options.question}`,
    );
  await untilBegun(theatre, page ? MODEL_MS : Number.POSITIVE_INFINITY);

  const { messages, findings: ofThread } = await playCutAnswer(theatre);
  const said = messages.flatMap(({ role, content }) => (role === 'assistant' && content ? [content] : []));
  const findings = [...(page ? await checkPage(page, said, () => loads) : []), ...ofThread];
  await page?.screenshot({ path: join(folder, PICTURE), fullPage: true });
  printTranscript(screen, messages);
  printPromises(screen, findings);
  screen.heading('Where to look');
  if (page) screen.plain(`  ${join(folder, PICTURE)}   the page, as it is now`);
  screen.plain('  scripts/web/page.mjs          the page: useChat, and one address');
  if (options.keep) printRunning(screen, theatre, 'When may we release?');
  return findings.every(({ kept }) => kept);
}

/** Waits until the page's first message has created the thread. */
async function untilBegun({ client, threadId, signal }: Theatre, timeoutMs: number): Promise<void> {
  await until('the page has asked', timeoutMs, signal, () =>
    client.getThread(threadId).then(
      () => true,
      () => false,
    ),
  );
}

async function checkPage(page: Page, said: readonly string[], loads: () => number): Promise<Finding[]> {
  const isOver = async () => ['ready', 'error'].includes((await look(page)).status ?? '');
  await until('the page is told of the end', MODEL_MS, undefined, isOver);
  const { status, error, messages } = await look(page);
  const shown = messages.flatMap(({ role, texts }) => (role === 'assistant' ? texts : []));
  return [
    {
      kept: shown.join('\n') === said.join('\n'),
      text: `the page shows exactly what is stored: ${shown.join('').length} characters, none twice, none lost`,
    },
    {
      kept: loads() === 0 && status === 'ready' && error === null,
      text: `it went on by itself: loaded anew ${loads()} times, no error, and it takes the next message`,
    },
  ];
}
