/** The page while its server is away: it says so, and goes on with nothing doubled and nothing missing. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import type { Page } from 'puppeteer-core';
import { says, scriptedModel } from '../../src/testing/index.ts';
import { testApi } from '../support/api.ts';
import { cuttingProxy } from '../support/cutting-proxy.ts';
import { PROGRAM_OPTIONS } from '../support/program-options.ts';
import { closeAfterTest, eventually, type TestRuntime, testRuntime } from '../support/runtime.ts';
import { browsing, chooseFile, countOf, inBrowser, shows, textOf } from './browsed.ts';

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const WORDS = Array.from({ length: 60 }, (_, n) => `word${n}`).join(' ');

async function serve({ store, taskQueue }: TestRuntime, port: number) {
  const path = store.place.replace('SQLite at ', '');
  const program = join(import.meta.dirname, '..', 'support', 'api-process.ts');
  const child: ChildProcess = fork(program, [`sqlite:${path}?synchronous=normal`, taskQueue, String(port)], {
    execArgv: [...PROGRAM_OPTIONS],
  });
  closeAfterTest(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  const [taken] = (await once(child, 'message')) as [number];
  return { child, port: taken, url: `http://127.0.0.1:${taken}` };
}

/** The story on the page equals the thread's messages, each once and in order. */
async function expectWhole(page: Page, { messages }: TestRuntime, threadId: string): Promise<void> {
  const stored = (await messages(threadId)).map(({ content }) => content);
  const read = () =>
    page.evaluate(
      `[...document.querySelectorAll('.scroller article .words')].map(({ textContent }) => textContent)`,
    ) as Promise<string[]>;
  await eventually('as many messages as are stored', async () => (await read()).length >= stored.length);
  await eventually('no text that is still written', async () => (await countOf(page, '.live')) === 0);
  expect(await read()).toEqual(stored);
}

inBrowser('the page without its server', () => {
  const open = browsing();

  it('says that the connection is lost when the server is killed during an answer, and goes on when it is back', async () => {
    const model = scriptedModel(({ messages }) =>
      says(`${messages.length} ${WORDS}`, { chunks: 60, chunkDelayMs: 50 }),
    );
    const runtime = await testRuntime({ model, fresh: true });
    const first = await serve(runtime, 0);
    const { threadId } = await runtime.client.startThread({ agent: 'helper', messages: [{ content: 'hi' }] });
    const page = await open(first.url, `#/threads/${threadId}`);
    await shows(page, 'word5', '.live');
    first.child.kill('SIGKILL');
    await once(first.child, 'exit');
    await shows(page, 'The connection is lost');
    await runtime.client.waitForIdle(threadId);
    await runtime.client.queueMessage(threadId, { content: 'again' });
    await serve(runtime, first.port);
    await eventually('it is no longer lost', async () => (await textOf(page, '.announcements')) === '');
    await runtime.client.waitForIdle(threadId);
    await expectWhole(page, runtime, threadId);
  });

  it('shows each word once over a connection that is cut again and again', async () => {
    const model = scriptedModel(({ messages }) =>
      says(`${messages.length} ${WORDS}`, { chunks: 60, chunkDelayMs: 20 }),
    );
    const runtime = await testRuntime({ model });
    const proxy = await cuttingProxy((await testApi(runtime)).url);
    const threadId = await runtime.start('hi');
    const page = await open(proxy.url, `#/threads/${threadId}`);
    await shows(page, 'word59', '.scroller');
    proxy.cut(...Array.from({ length: 20 }, (_, n) => 700 + 311 * n));
    await runtime.say(threadId, 'again');
    await eventually('it was cut', () => proxy.cuts > 5);
    proxy.cut();
    await expectWhole(page, runtime, threadId);
  });

  it('asks again when responses are cut within their headers, which browsers take for empty ones', async () => {
    const runtime = await testRuntime({ model: scriptedModel(() => says('hello')) });
    const proxy = await cuttingProxy((await testApi(runtime)).url);
    const threadId = await runtime.start('hi');
    const page = await open(proxy.url, `#/threads/${threadId}`);
    await expectWhole(page, runtime, threadId);
    const headOnly = 60;
    proxy.cut(700, ...Array.from({ length: 40 }, () => headOnly));
    await runtime.say(threadId, 'again');
    await eventually('it was cut', () => proxy.cuts > 20);
    proxy.cut();
    await expectWhole(page, runtime, threadId);
  });

  it('takes a file that was cut within its headers for no file, and a refusal for no upload', async () => {
    const model = scriptedModel(() => says('hello'));
    const runtime = await testRuntime({ model });
    const proxy = await cuttingProxy((await testApi(runtime)).url);
    const data = Buffer.from(PIXEL, 'base64');
    const attachments = [{ name: 'dot.png', mimeType: 'image/png', data }];
    const messages = [{ content: 'look', attachments }];
    const { threadId } = await runtime.client.startThread({ agent: 'helper', messages });
    await runtime.client.waitForIdle(threadId);
    const page = await open(proxy.url);
    await shows(page, 'helper', 'ul.list');
    // Within the headers, behind the type.
    proxy.aim('/file?path=');
    proxy.cut(100, 160, 220, 280, 340);
    await page.evaluate(`location.hash = '#/threads/${threadId}/files'`);
    await eventually('it was cut', () => proxy.cuts === 5, 20_000);
    const width = () => page.evaluate(`document.querySelector('.scroller img')?.naturalWidth`);
    await eventually('the picture', async () => (await width()) === 1);
    const before = proxy.cuts;
    // Within the status line: browsers take it for 200.
    proxy.cut(...Array.from({ length: 6 }, () => 'HTTP/1.1 '.length));
    await chooseFile(page, '[data-tab=files] input', 'n'.repeat(3000), '');
    await eventually('it was cut', () => proxy.cuts === before + 6, 20_000);
    await shows(page, 'path', '.announcements .failure');
  });

  it('has no stream while it is hidden, and goes on behind the last row when it is seen again', async () => {
    const model = scriptedModel(({ messages }) => says(`${messages.length} ${WORDS}`));
    const runtime = await testRuntime({ model });
    const { url } = await testApi(runtime);
    const threadId = await runtime.start('hi');
    const page = await open(url, `#/threads/${threadId}`);
    await runtime.say(threadId, 'while seen');
    await expectWhole(page, runtime, threadId);
    const ended: string[] = [];
    page.on('requestfailed', (request) => ended.push(request.url()));
    const see = (hidden: boolean) =>
      page.evaluate(`
        Object.defineProperty(document, 'hidden', { configurable: true, value: ${hidden} });
        document.dispatchEvent(new Event('visibilitychange'));
      `);
    await see(true);
    await eventually('the stream ends', () => ended.some((address) => address.includes('/events')));
    await runtime.say(threadId, 'while hidden');
    expect(await textOf(page, '.scroller')).not.toContain('while hidden');
    await see(false);
    await expectWhole(page, runtime, threadId);
  });

  it('asks to reload when the server has another version of the page', async () => {
    const runtime = await testRuntime({ model: scriptedModel(() => says('hello')) });
    const { url } = await testApi(runtime);
    const page = await open(url);
    await shows(page, 'Threads');
    await page.setRequestInterception(true);
    page.on('request', (request) => {
      if (request.method() === 'HEAD')
        void request.respond({ status: 200, headers: { etag: '"ffffffffffffffff"' } });
      else void request.continue();
    });
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
    await shows(page, 'The server has a newer page');
  });
});
