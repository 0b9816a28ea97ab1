/**
 * The fifth scenario: the page at `/ui` is open on a thread whose worker is killed in mid-answer. It strikes through what
 * the lost worker had written, and shows what is stored. If this machine has no browser, the user opens the page.
 */
import { join } from 'node:path';
import type { Page } from 'puppeteer-core';
import { serveApi } from '../../src/cli/serve/serve-api.ts';
import { createApi } from '../../src/server/index.ts';
import { openInBrowser, playCutAnswer, until } from './cut-answer.ts';
import type { Finding } from './promise.ts';
import { printPromises, printRunning, printTranscript } from './report.ts';
import type { Theatre } from './theatre.ts';

/** Time for the page to show what the log has told. */
const PAGE_MS = 20_000;
const PICTURE = 'ui.png';

export async function performUi(theatre: Theatre): Promise<boolean> {
  const { screen, client, threadId, stack, options, folder } = theatre;
  const served = await serveApi(createApi({ client }), { host: '127.0.0.1', port: 0 });
  stack.defer(() => served.close());
  screen.say('you', options.question);
  await client.startThread({ agent: 'librarian', threadId, messages: [{ content: options.question }] });
  const address = `${served.url}/ui#/threads/${threadId}`;
  screen.say('server', `the page, on this thread: ${address}`);
  const page = await openInBrowser(theatre, address);
  // The page keeps only what is in view: so high that the whole thread is.
  await page?.setViewport({ width: 1000, height: 1600 });
  if (!page) screen.say('note', 'No browser was found (EVERTHREAD_BROWSER): open the page yourself.');

  const { messages, findings: ofThread } = await playCutAnswer(theatre);
  const said = messages.flatMap(({ role, content }) => (role !== 'tool' && content ? [content] : []));
  const findings = [...(page ? [await checkPage(page, said)] : []), ...ofThread];
  await page?.screenshot({ path: join(folder, PICTURE) });
  printTranscript(screen, messages);
  printPromises(screen, findings);
  screen.heading('Where to look');
  if (page) screen.plain(`  ${join(folder, PICTURE)}   the page, as it is now`);
  if (options.keep) {
    screen.plain(`  ${address}`);
    printRunning(screen, theatre, 'When may we release?');
  }
  return findings.every(({ kept }) => kept);
}

/** Waits until the page shows as many messages as are stored, and compares their words. */
async function checkPage(page: Page, said: readonly string[]): Promise<Finding> {
  const read = () =>
    page.evaluate(
      "[...document.querySelectorAll('.message .words')].map(({ textContent }) => textContent)",
    ) as Promise<string[]>;
  await until('the page shows the last message', PAGE_MS, undefined, async () => {
    const shown = await read();
    return shown.length >= said.length && shown.at(-1)?.trim() === said.at(-1)?.trim();
  });
  const shown = await read();
  const plain = (texts: readonly string[]) =>
    texts.map((text) => text.replace(/\s+/g, ' ').trim()).join('\n');
  return {
    kept: plain(shown) === plain(said),
    text: `the page shows exactly what is stored: ${shown.length} messages, none twice, none lost`,
  };
}
