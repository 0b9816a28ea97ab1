/**
 * The fourth scenario: a page of `useChat` in a browser. It asks the question over HTTP, the worker is killed in
 * mid-answer, and the page continues without a reload; nothing in it knows of workers. If this machine has no browser,
 * the user opens the page.
 */
import { join } from 'node:path';
import type { Page } from 'puppeteer-core';
import { serveApi } from '../../src/cli/serve/serve-api.ts';
import { createApi } from '../../src/server/index.ts';
import { findBrowser, look, openBrowser, openPage, say } from '../web/browser.ts';
import { bundlePage } from '../web/bundle-page.ts';
import { withPage } from '../web/serve-page.ts';
import { createNarrator } from './narrator.ts';
import type { Finding } from './promise.ts';
import { printPromises, printRunning, printTranscript } from './report.ts';
import { interruptAnswer } from './story.ts';
import type { Theatre } from './theatre.ts';
import { ThreadLog } from './thread-log.ts';

const MODEL_MS = 180_000;
const PICTURE = 'web.png';

export async function performWeb(theatre: Theatre): Promise<boolean> {
  const { screen, client, threadId, stack, options, folder, first, timeouts, signal } = theatre;
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

  const log = new ThreadLog(client, threadId, createNarrator(screen, client, threadId));
  stack.defer(() => log.close());
  const stage = { ...theatre, log, early: false, timeouts, signal };
  const cut = await Promise.race([interruptAnswer(stage, first), theatre.failure]);
  await Promise.race([client.waitForIdle(threadId, { timeoutMs: MODEL_MS }), theatre.failure]);
  const { lastSeq } = await client.getThread(threadId);
  const isTold = () => (log.events.at(-1)?.seq ?? 0) >= lastSeq || undefined;
  await log.until('the log tells of it', isTold, MODEL_MS);
  const { messages } = await client.getMessages(threadId, { limit: 1000 });
  const said = messages.flatMap(({ role, content }) => (role === 'assistant' && content ? [content] : []));
  const findings = [
    ...(page ? await checkPage(page, said, () => loads) : []),
    ...checkThread(log, cut !== undefined),
  ];
  await page?.screenshot({ path: join(folder, PICTURE), fullPage: true });
  printTranscript(screen, messages);
  printPromises(screen, findings);
  screen.heading('Where to look');
  if (page) screen.plain(`  ${join(folder, PICTURE)}   the page, as it is now`);
  screen.plain('  scripts/web/page.mjs          the page: useChat, and one address');
  if (options.keep) printRunning(screen, theatre, 'When may we release?');
  return findings.every(({ kept }) => kept);
}

/** Opens the page in a browser of this machine; undefined if there is none. */
export async function openInBrowser({ stack, screen }: Theatre, address: string): Promise<Page | undefined> {
  const program = findBrowser();
  if (program === undefined) return undefined;
  const browser = await openBrowser(program);
  stack.defer(() => browser.close());
  const page = await openPage(browser, address);
  await page.setViewport({ width: 900, height: 700 });
  screen.say('note', `${await browser.version()} has it open, without a window`);
  return page;
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

export function checkThread({ events }: ThreadLog, wasCut: boolean): Finding[] {
  const count = (type: string) => events.filter((event) => event.type === type).length;
  return [
    {
      kept: count('execution.started') === 1 && count('execution.ended') === 1,
      text: `one question, one execution${wasCut ? ', and one worker less' : ''}`,
    },
  ];
}

export async function until(
  what: string,
  timeoutMs: number,
  signal: AbortSignal | undefined,
  check: () => Promise<boolean>,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await check())) {
    signal?.throwIfAborted();
    if (performance.now() > deadline) throw new Error(`Not within ${timeoutMs / 1000} s: ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
