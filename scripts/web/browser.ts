/** A browser of this machine without a window, and a reader of what its page shows. */
import { accessSync, constants } from 'node:fs';
import puppeteer, { type Browser, type Page } from 'puppeteer-core';

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
];

/** Time limit, far beyond what any machine needs. */
const PATIENCE_MS = 180_000;

/** Returns the browser's program: `EVERTHREAD_BROWSER`, else the first at a usual place; undefined if there is none. */
export function findBrowser(): string | undefined {
  const { EVERTHREAD_BROWSER } = process.env;
  return (EVERTHREAD_BROWSER ? [EVERTHREAD_BROWSER] : PLACES).find(canRun);
}

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export function openBrowser(executablePath: string): Promise<Browser> {
  return puppeteer.launch({
    executablePath,
    // The sandbox of Chromium wants user namespaces, which containers often lack; it loads nothing but our own page.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
    // The browser ends with the pipe, and so with this process, however that ends.
    pipe: true,
    // This program decides what Ctrl-C ends.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    timeout: PATIENCE_MS,
    protocolTimeout: PATIENCE_MS,
  });
}

export async function openPage(browser: Browser, address: string): Promise<Page> {
  const page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  await page.goto(address);
  return page;
}

export interface Shown {
  /** Status of `useChat`: `ready`, `submitted`, `streaming`, `error`. */
  readonly status: string | null;
  readonly error: string | null;
  readonly messages: readonly { readonly role: string | null; readonly texts: readonly string[] }[];
  /** State and text of each tool call that the page shows. */
  readonly tools: readonly string[];
  readonly asks: boolean;
}

/** Reads all of it in one evaluation. */
export async function look(page: Page): Promise<Shown> {
  return JSON.parse((await page.evaluate(LOOK)) as string) as Shown;
}

// A text, because it runs in the page and not in this program.
const LOOK = `(() => {
  const all = (within, what) => [...within.querySelectorAll(what)];
  return JSON.stringify({
    status: document.querySelector('main')?.dataset.status ?? null,
    error: document.querySelector('[data-error]')?.textContent ?? null,
    messages: all(document, 'article').map((one) => ({
      role: one.dataset.role,
      texts: all(one, '[data-text]').map(({ textContent }) => textContent),
    })),
    tools: all(document, '[data-tool]').map(({ dataset, textContent }) => dataset.tool + ': ' + textContent),
    asks: document.querySelector('[data-approve]') !== null,
  });
})()`;

/** Sends a message by the page's own events: hidden pages are not painted, and pointer input waits for painting. */
export async function say(page: Page, text: string): Promise<void> {
  // The page reads its chat's messages first.
  await page.waitForSelector('form');
  await page.evaluate(
    `(() => { const form = document.querySelector('form'); form.elements.text.value = ${JSON.stringify(text)}; form.requestSubmit(); })()`,
  );
}

/** Writes into the page's field, and sends nothing. */
export async function fill(page: Page, text: string): Promise<void> {
  await page.waitForSelector('form');
  await page.evaluate(`document.querySelector('form').elements.text.value = ${JSON.stringify(text)}`);
}

export async function press(page: Page, button: string): Promise<void> {
  await page.evaluate(`document.querySelector(${JSON.stringify(button)}).click()`);
}
