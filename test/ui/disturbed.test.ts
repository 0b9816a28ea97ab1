/** A thread's whole life on the page, over a network that is slow and cuts one response in twenty, at any byte. */
import { expect, it } from '@jest/globals';
import type { Page } from 'puppeteer-core';
import { z } from 'zod';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, hangs, says, scriptedModel } from '../../src/testing/index.ts';
import { testApi } from '../support/api.ts';
import { cuttingProxy } from '../support/cutting-proxy.ts';
import { isLong } from '../support/long-form.ts';
import { eventually, testRuntime } from '../support/runtime.ts';
import { SEEDS, seededRandom } from '../support/seeded-random.ts';
import { browsing, chooseFile, countOf, equalsLog, fill, inBrowser, shows } from './browsed.ts';

const WORDS = Array.from({ length: 30 }, (_, n) => `word${n}`).join(' ');
const seeds = isLong ? SEEDS : SEEDS.slice(0, 1);
const [share, delayMs] = [0.05, 200];

/** Presses a button until it has had its effect: a person is told if that is unknown, looks, and presses again. */
async function insist(page: Page, selector: string, isDone: () => Promise<boolean>): Promise<void> {
  await eventually(
    `what ${selector} does`,
    async () => {
      if (await isDone()) return true;
      await page.evaluate(`document.querySelector('${selector}:not(:disabled)')?.click()`);
      return isDone();
    },
    90_000,
  );
}

inBrowser('the page over a disturbed network', () => {
  const open = browsing();

  it.each(seeds)('sends, answers, stops and ends, and shows what is stored (seed %i)', async (seed) => {
    const paid: string[] = [];
    const refund = defineTool({
      description: 'refunds',
      args: z.object({ to: z.string() }),
      capabilities: ['money.move'],
      execute: async (_state, { to }) => {
        paid.push(to);
        return { status: 'success', result: 'refunded' };
      },
    });
    const model = scriptedModel(({ messages }) => {
      const last = messages.at(-1);
      if (last?.role === 'tool') return says(`Done. ${WORDS}`, { chunks: 30, chunkDelayMs: 10 });
      const said = JSON.stringify(last?.content);
      if (said.includes('pay')) return calls('refund', { to: 'Ada' });
      return said.includes('wait') ? hangs({ after: 'I was about to' }) : says(`Hello. ${WORDS}`);
    });
    const policy = { 'money.*': 'require_approval' } as const;
    const runtime = await testRuntime({ model, tools: { refund }, agent: { policy } });
    const { client } = runtime;
    const proxy = await cuttingProxy((await testApi(runtime)).url);
    const threadId = await runtime.start('hi');
    const statusIs = async (status: string) => (await client.getThread(threadId)).status === status;
    const page = await open(proxy.url, `#/threads/${threadId}/raw`, { height: 1600 });
    await shows(page, 'word29', '.scroller');
    proxy.disturb({ delayMs, share, random: seededRandom(seed) });

    await fill(page, '#send', 'pay, please');
    await chooseFile(page, '.send input[type=file]', 'bill.txt', btoa('12 euros'));
    await shows(page, 'bill.txt', '.chosen');
    const isSent = async () => (await countOf(page, '.chosen')) === 0;
    await insist(page, '[data-act=send]', isSent);
    await shows(page, 'money.move', '[data-wait=approval]');
    await insist(page, '[data-act=approve]', async () => !(await statusIs('waiting')));
    await client.waitForIdle(threadId);
    await shows(page, 'Done.', '.scroller');
    await fill(page, '#send', 'wait');
    await insist(page, '[data-act=send]', () => statusIs('running'));
    await shows(page, 'I was about to', '.live');
    await insist(page, '[data-act=stop]', () => statusIs('stopped'));
    await insist(page, '[data-act=terminate]', async () => (await countOf(page, '[data-act=confirm]')) > 0);
    await insist(page, '[data-act=confirm]', () => statusIs('terminated'));
    await shows(page, 'This thread is terminated');

    await equalsLog(page, client, threadId);
    const words = `[...document.querySelectorAll('.message .words')].map(({ textContent }) => textContent)`;
    const stored = (await runtime.messages(threadId)).filter(
      ({ role, content }) => role !== 'tool' && content,
    );
    expect(await page.evaluate(words)).toEqual(stored.map(({ content }) => content));
    expect(paid).toEqual(['Ada']);
    expect(stored.filter(({ content }) => content === 'pay, please')).toHaveLength(1);
    const { attachments } = stored.find(({ content }) => content === 'pay, please') ?? {};
    expect(attachments).toMatchObject([{ name: 'bill.txt', size: 8 }]);
    expect(proxy.cuts).toBeGreaterThan(0);
  });
});
