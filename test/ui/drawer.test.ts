/** What is behind a story: the request of each model call with what is new in it, the budget, values, raw rows. */
import { expect, it } from '@jest/globals';
import { z } from 'zod';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, fails, says, scriptedModel } from '../../src/testing/index.ts';
import { testApi } from '../support/api.ts';
import { testRuntime } from '../support/runtime.ts';
import { browsing, click, countOf, inBrowser, shows, textOf } from './browsed.ts';
import { weatherTools } from './weather.ts';

inBrowser('the drawer of the page', () => {
  const open = browsing();

  it('shows what each call of a model was sent, and what is new since the call before', async () => {
    const model = scriptedModel([calls('weather', { city: 'Rome' }), says('It is sunny.')]);
    const runtime = await testRuntime({ model, tools: weatherTools('sunny, 31 degrees') });
    const { url } = await testApi(runtime);
    const threadId = await runtime.start('How is Rome?');
    const page = await open(url, `#/threads/${threadId}`);
    await shows(page, 'It is sunny.');
    await click(page, '[data-step="1"] button');
    await shows(page, 'You help.', '[data-tab=request]');
    expect(page.url()).toBe(`${url}/ui#/threads/${threadId}/request/1.1.1`);
    const roles = () =>
      page.evaluate(`[...document.querySelectorAll('.sent')].map(({ dataset }) => dataset.role)`);
    expect(await roles()).toEqual(model.requests[0]?.messages.map(({ role }) => role));
    await shows(page, `everthread threads request ${threadId} 1.1.1`, '[data-tab=request]');
    await click(page, '[data-step="2"] button');
    await shows(page, 'sunny, 31 degrees', '[data-tab=request]');
    await shows(page, 'New since 1.1.1: 2 messages', '[data-tab=request]');
    expect(await roles()).toEqual(model.requests[1]?.messages.map(({ role }) => role));
    await click(page, '.check input');
    await shows(page, 'sunny, 31 degrees', '[data-tab=request]');
    expect(await roles()).toEqual(['assistant', 'tool']);
    expect(await textOf(page, '[data-tab=request]')).toContain('1 tool offered');
  });

  it('says in the story why a step took another request, and with whose approval a tool ran', async () => {
    const refund = defineTool({
      description: 'refunds',
      args: z.object({ cents: z.number() }),
      capabilities: ['money.move'],
      execute: async () => ({ status: 'success', result: 'refunded' }),
    });
    const model = scriptedModel([
      fails({ code: 'rate_limit', message: 'slow down', retryAfter: 0.1 }),
      calls('refund', { cents: 5 }),
      says('Done.'),
    ]);
    const policy = { 'money.*': 'require_approval' } as const;
    const runtime = await testRuntime({ model, tools: { refund }, agent: { policy } });
    const { url } = await testApi(runtime);
    const { threadId } = await runtime.client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
    await runtime.client.waitForIdle(threadId);
    const [wait] = await runtime.client.listWaits({ threadId });
    await runtime.client.answerWait(wait?.id ?? '', { approved: true, by: 'Grace' });
    await runtime.client.waitForIdle(threadId);
    const page = await open(url, `#/threads/${threadId}/raw`);
    await shows(page, 'Grace approves');
    const stored: string[] = [];
    for await (const { event } of runtime.client.events(threadId, { as: 'story', follow: false }))
      if (event.kind === 'limit' || event.kind === 'retry') stored.push(event.line);
    expect(stored.length).toBeGreaterThan(0);
    for (const line of stored) await shows(page, line.slice(0, 100), '.scroller');
  });

  it('shows values, files and the budget, and runs no command that it shows by itself', async () => {
    const keep = defineTool({
      description: 'keeps',
      execute: async (state) => {
        await state.setValue('basket', { apples: 3 });
        await state.writeFile('/notes/list.txt', new TextEncoder().encode('apples'), 'text/plain');
        return { status: 'success', result: 'kept' };
      },
    });
    const model = scriptedModel([calls('keep', {}), says('Kept.')]);
    const agent = { budget: { maxSteps: 7 } };
    const runtime = await testRuntime({ model, tools: { keep }, agent: agent as never });
    const { url } = await testApi(runtime);
    const threadId = await runtime.start('keep them');
    const page = await open(url, `#/threads/${threadId}/values`);
    await shows(page, '"apples":3', '[data-tab=values]');
    await page.evaluate(`location.hash = '#/threads/${threadId}/files'`);
    await shows(page, 'notes/', '[data-tab=files]');
    await click(page, '[data-tab=files] li button');
    await shows(page, 'list.txt', '[data-tab=files]');
    await page.evaluate(`location.hash = '#/threads/${threadId}/budget'`);
    await shows(page, '2 of 7', '[data-tab=budget]');
    expect(await countOf(page, '[data-tab=budget] meter')).toBe(1);
    await page.keyboard.press('Escape');
    await shows(page, 'Kept.', '.scroller');
    expect(await countOf(page, '.drawer')).toBe(0);
  });
});
