/** A browser with the page at `/ui`, for the tests of a file. Skipped if this machine has no browser (`EVERTHREAD_BROWSER`). */
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import type { Browser, Page } from 'puppeteer-core';
import { findBrowser, openBrowser } from '../../scripts/web/browser.ts';
import type { RuntimeClient } from '../../src/client/runtime-client.ts';
import { eventually } from '../support/eventually.ts';

const program = findBrowser();
export const inBrowser = program ? describe : describe.skip;

export interface Opened {
  readonly width?: number;
  readonly height?: number;
  readonly theme?: 'light' | 'dark';
}

/** Opens a browser for the tests of this block, and returns what opens tabs in it. Every tab has its own session. */
export function browsing(): (url: string, fragment?: string, how?: Opened) => Promise<Page> {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser(program as string);
  });
  afterAll(() => browser?.close());
  return async (url, fragment = '', { width = 1280, height = 860, theme = 'light' } = {}) => {
    const page = await browser.newPage();
    await page.setViewport({ width, height });
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
    await page.goto(`${url}/ui${fragment}`);
    await page.bringToFront();
    return page;
  };
}

export const textOf = async (page: Page, selector = 'body'): Promise<string> =>
  (await page.evaluate(`document.querySelector(${JSON.stringify(selector)})?.innerText ?? ''`)) as string;

/** Waits until a part of the page shows these words. */
export const shows = (page: Page, words: string, selector = 'body'): Promise<true | undefined | false> =>
  eventually(
    `"${words}" in ${selector}`,
    async () => (await textOf(page, selector)).includes(words),
    60_000,
  ).catch(async (error: Error) => {
    throw new Error(`${error.message}; it shows:\n${await textOf(page)}`);
  });

export const countOf = async (page: Page, selector: string): Promise<number> =>
  (await page.evaluate(`document.querySelectorAll(${JSON.stringify(selector)}).length`)) as number;

/** Waits until there is an element, and clicks it. */
export async function click(page: Page, selector: string): Promise<void> {
  await eventually(
    `${selector} that can be clicked`,
    async () => (await countOf(page, `${selector}:not(:disabled)`)) > 0,
    60_000,
  );
  await page.evaluate(`document.querySelector(${JSON.stringify(selector)}).click()`);
}

/** Puts a text into a field, as its events tell the page. */
export async function fill(page: Page, selector: string, text: string): Promise<void> {
  await eventually(selector, async () => (await countOf(page, selector)) > 0, 60_000);
  await page.evaluate(`(() => {
    const field = document.querySelector(${JSON.stringify(selector)});
    field.value = ${JSON.stringify(text)};
    field.dispatchEvent(new Event('input', { bubbles: true }));
    field.dispatchEvent(new Event('change', { bubbles: true }));
  })()`);
}

/** Chooses files in an input, as a person does. */
export async function chooseFile(
  page: Page,
  selector: string,
  name: string,
  text: string,
  type = 'text/plain',
) {
  await eventually(selector, async () => (await countOf(page, selector)) > 0, 60_000);
  await page.evaluate(`(() => {
    const chosen = new DataTransfer();
    const given = ${JSON.stringify([name, text, type])};
    chosen.items.add(new File([Uint8Array.from(atob(given[1]), (one) => one.charCodeAt(0))], given[0], { type: given[2] }));
    const field = document.querySelector(${JSON.stringify(selector)});
    field.files = chosen.files;
    field.dispatchEvent(new Event('change', { bubbles: true }));
  })()`);
}

/** Reads all rows of the Raw tab, as `seq kind`, from its beginning to its end. */
const RAW_ROWS = `(async () => {
  const list = document.querySelector('[data-tab=raw] .scroller');
  if (!list) return [];
  const drawn = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  const rows = new Map();
  list.scrollTop = 0;
  for (;;) {
    await drawn();
    for (const { textContent } of list.querySelectorAll('summary')) {
      const [seq, kind] = textContent.split(' ');
      rows.set(Number(seq), seq + ' ' + kind);
    }
    const before = list.scrollTop;
    list.scrollTop += list.clientHeight / 2;
    await drawn();
    if (list.scrollTop === before) break;
  }
  return [...rows].sort(([one], [other]) => one - other).map(([, row]) => row);
})()`;

/**
 * Waits until the Raw tab has the rows that the log has now, and nothing else. Pieces of answers are no rows there. The
 * page must be lower than the rows that it draws at once.
 */
export async function equalsLog(
  page: Page,
  client: Pick<RuntimeClient, 'events'>,
  threadId: string,
): Promise<void> {
  const stored: string[] = [];
  for await (const { seq, type } of client.events(threadId, { follow: false }))
    if (type !== 'model.chunk') stored.push(`${seq} ${type}`);
  let shown: string[] = [];
  await eventually(
    'the rows of the log',
    async () => {
      shown = (await page.evaluate(RAW_ROWS)) as string[];
      return shown.length >= stored.length;
    },
    60_000,
  ).catch(() => undefined);
  expect(shown.slice(0, stored.length)).toEqual(stored);
}
