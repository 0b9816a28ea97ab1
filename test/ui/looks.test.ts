/** The page on a phone, in both themes, with very long threads. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { expect, it } from '@jest/globals';
import type { Page } from 'puppeteer-core';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { testApi } from '../support/api.ts';
import { openBeside } from '../support/database-beside.ts';
import { lengthen } from '../support/long-thread.ts';
import { eventually, testRuntime } from '../support/runtime.ts';
import { browsing, countOf, inBrowser, shows, textOf } from './browsed.ts';
import { weatherTools } from './weather.ts';

const PHONE = { width: 390, height: 844 };
const TABS = ['request', 'timeline', 'budget', 'family', 'files', 'values', 'effects', 'raw'];

async function talked() {
  const model = scriptedModel([
    calls('weather', { city: 'Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch'.repeat(3) }),
    says('It is sunny.'),
  ]);
  const runtime = await testRuntime({ model, tools: weatherTools() });
  const { url } = await testApi(runtime);
  const threadId = await runtime.start(`How is the weather? ${'supercalifragilistic'.repeat(20)}`);
  return { url, threadId };
}

const violations = async (page: Page): Promise<unknown> => {
  const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
  await page.evaluate(await readFile(axe, 'utf8'));
  return page.evaluate(`axe.run(document).then(({ violations }) =>
    violations.map(({ id, nodes }) => [id, ...nodes.map(({ html, any }) => html.slice(0, 200) + ' ' + any.map(({ message }) => message).join())]))`);
};

inBrowser('the page', () => {
  const open = browsing();

  it('has no horizontal scroll at 390 pixels, whatever is open', async () => {
    const { url, threadId } = await talked();
    const page = await open(url, '', PHONE);
    const wide = () => page.evaluate('document.documentElement.scrollWidth > innerWidth');
    await shows(page, 'helper');
    expect(await wide()).toBe(false);
    await page.evaluate(`location.hash = '#/threads/${threadId}'`);
    await shows(page, 'It is sunny.');
    await page.evaluate(`document.querySelector('[data-tool] summary').click()`);
    await shows(page, 'Arguments');
    expect(await wide()).toBe(false);
    for (const tab of TABS) {
      await page.evaluate(`location.hash = '#/threads/${threadId}/${tab}'`);
      await eventually(tab, async () => (await textOf(page, `[data-tab=${tab}]`)).length > 10);
      expect([tab, await wide()]).toEqual([tab, false]);
    }
  });

  it.each(['light', 'dark'] as const)('has nothing that axe finds in the %s theme', async (theme) => {
    const { url, threadId } = await talked();
    const page = await open(url, '', { theme });
    await shows(page, 'helper');
    expect(await violations(page)).toEqual([]);
    await page.evaluate(`location.hash = '#/threads/${threadId}'`);
    await shows(page, 'It is sunny.');
    expect(await violations(page)).toEqual([]);
    for (const tab of TABS) {
      await page.evaluate(`location.hash = '#/threads/${threadId}/${tab}'`);
      await eventually(tab, async () => (await textOf(page, `[data-tab=${tab}]`)).length > 10);
      expect([tab, await violations(page)]).toEqual([tab, []]);
    }
  });

  it('holds at most 500 elements of a thread with 10,000 messages, from its end to its beginning', async () => {
    const model = scriptedModel(({ messages }) =>
      messages.at(-1)?.content === 'end' ? says('the very end') : says('an answer'),
    );
    const runtime = await testRuntime({ model, fresh: true });
    const { url } = await testApi(runtime);
    const threadId = await runtime.start('the very beginning');
    const db = openBeside(runtime.store.place.replace('SQLite at ', 'sqlite:'));
    await lengthen(db, threadId, 9_998);
    await db.destroy();
    await runtime.say(threadId, 'end');
    const page = await open(url, `#/threads/${threadId}`);
    await shows(page, 'the very end');
    const most = [await countOf(page, '*')];
    await eventually('the first message', async () => {
      await page.evaluate(`document.querySelector('.scroller').scrollTop = 0`);
      most.push(await countOf(page, '*'));
      return (await page.evaluate('document.querySelector(".scroller [data-step]")?.dataset.step')) === '1';
    });
    expect(Math.max(...most)).toBeLessThanOrEqual(500);
  });
});
