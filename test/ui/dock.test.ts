/** What a thread asks of people, answered from the page; and what a token permits there. */
import { expect, it } from '@jest/globals';
import { z } from 'zod';
import { defineTool } from '../../src/definitions/index.ts';
import { tokenAccess } from '../../src/server/api/access.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { testApi } from '../support/api.ts';
import { envoyProject, PASSPORT, reported, waiting } from '../support/envoy-project.ts';
import { eventually, testRuntime } from '../support/runtime.ts';
import { browsing, click, countOf, fill, inBrowser, shows, textOf } from './browsed.ts';

const [READER, WRITER, OTHER] = ['reader', 'writer', 'other'].map((name) => name.padEnd(24, '-')) as [
  string,
  string,
  string,
];
const access = tokenAccess(`${READER}=read,${WRITER}=read+write+answer,${OTHER}=write`);

async function refunding() {
  const paid: number[] = [];
  const refund = defineTool({
    description: 'refunds',
    args: z.object({ cents: z.number(), to: z.string() }),
    capabilities: ['money.move'],
    execute: async (_state, { cents }) => {
      paid.push(cents);
      return { status: 'success', result: `refunded ${cents}` };
    },
  });
  const model = scriptedModel(({ messages }) =>
    messages.at(-1)?.role === 'user' ? calls('refund', { cents: 1250, to: 'Ada' }) : says('Refunded.'),
  );
  const policy = { 'money.*': 'require_approval' } as const;
  const runtime = await testRuntime({ model, tools: { refund }, agent: { policy } });
  const { threadId } = await runtime.client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
  await runtime.client.waitForIdle(threadId);
  return { runtime, threadId, paid };
}

inBrowser('the dock of the page', () => {
  const open = browsing();

  it('regenerates an answer, and edits a message', async () => {
    let count = 0;
    const runtime = await testRuntime({ model: scriptedModel(() => says(`answer ${++count}`)) });
    const { url } = await testApi(runtime);
    const { threadId } = await runtime.client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
    await runtime.client.waitForIdle(threadId);
    const page = await open(url, `#/threads/${threadId}`);
    await shows(page, 'answer 1');
    await click(page, '[data-act=regenerate]');
    await shows(page, 'answer 2');
    page.once('dialog', (dialog) => void dialog.accept('and come back'));
    await click(page, '[data-act=edit]');
    await shows(page, 'answer 3');
    await shows(page, 'and come back', '[data-message]');
    await eventually('two messages', async () => (await countOf(page, '[data-message]')) === 2);
  });

  it('shows what would be done and why, and an approval in two tabs does it once', async () => {
    const { runtime, threadId, paid } = await refunding();
    const { url } = await testApi(runtime);
    const tabs = [await open(url, `#/threads/${threadId}`), await open(url, `#/threads/${threadId}`)];
    for (const tab of tabs) {
      await tab.bringToFront();
      await shows(tab, '1250', '[data-wait=approval]');
      await shows(tab, 'money.move', '[data-wait=approval]');
      expect(await textOf(tab, '[data-wait=approval]')).toContain('Ada');
    }
    // At the same moment, before either has heard of the other.
    await Promise.all(
      tabs.map((tab) => tab.evaluate(`document.querySelector('[data-act=approve]').click()`)),
    );
    await runtime.client.waitForIdle(threadId);
    for (const tab of tabs) {
      await tab.bringToFront();
      await shows(tab, 'Refunded.');
      expect(await countOf(tab, '[data-wait]')).toBe(0);
      expect(await textOf(tab, '.announcements')).toBe('');
    }
    expect(paid).toEqual([1250]);
  });

  it('approves with changed arguments, and shows what is wrong with them', async () => {
    const { runtime, threadId, paid } = await refunding();
    const { url } = await testApi(runtime);
    const page = await open(url, `#/threads/${threadId}`);
    await shows(page, '1250', '[data-wait=approval]');
    await click(page, '[data-wait=approval] [name=change]');
    await fill(page, '[aria-label="Changed arguments"]', '{"cents": 10');
    await click(page, '[data-act=approve]');
    await shows(page, 'not a JSON object');
    await fill(page, '[aria-label="Changed arguments"]', '{"cents": "ten", "to": "Ada"}');
    await click(page, '[data-act=approve]');
    await shows(page, 'The changed arguments were refused', '[data-wait=approval]');
    await click(page, '[data-wait=approval] [name=change]');
    await fill(page, '[aria-label="Changed arguments"]', '{"cents": 10, "to": "Ada"}');
    await click(page, '[data-act=approve]');
    await shows(page, 'Refunded.');
    await runtime.client.waitForIdle(threadId);
    expect(paid).toEqual([10]);
    await shows(page, 'with changed arguments');
  });

  it('approves every call of a tool in a thread, and revokes that', async () => {
    const { runtime, threadId, paid } = await refunding();
    const { url } = await testApi(runtime);
    const page = await open(url, `#/threads/${threadId}`);
    await shows(page, '1250', '[data-wait=approval]');
    const words = await page.$$eval('[data-wait=approval] option', (all) =>
      all.map(({ textContent }) => textContent),
    );
    const choice = words.indexOf('every call of it, in this thread');
    await page.select('[data-wait=approval] select', String(choice));
    await click(page, '[data-act=approve]');
    await shows(page, 'Refunded.');
    await runtime.say(threadId, 'once more');
    expect(paid).toEqual([1250, 1250]);
    const grants = await open(url, `#/threads/${threadId}/answers`);
    await shows(grants, 'is approved in this thread', '[data-grant=tool]');
    await click(grants, '[data-act=revoke]');
    await eventually('it is gone', async () => (await countOf(grants, '[data-grant]')) === 0);
    await shows(page, 'revokes what was approved');
  });

  it('tells whoever denies what another has approved before that this does not count', async () => {
    const { runtime, threadId, paid } = await refunding();
    const { url } = await testApi(runtime);
    const page = await open(url, `#/threads/${threadId}`);
    await shows(page, '1250', '[data-wait=approval]');
    // The page does not hear of it before it has sent its own answer.
    await page.evaluate(`(() => {
      const real = window.fetch;
      window.held = Promise.withResolvers();
      window.fetch = async (...given) => {
        if (String(given[0]).includes('/answer')) await window.held.promise;
        return real(...given);
      };
      document.querySelector('[data-act=deny]').click();
    })()`);
    const [wait] = await runtime.client.listWaits({ threadId });
    await runtime.client.answerWait(wait?.id ?? '', { approved: true });
    await page.evaluate('window.held.resolve()');
    await shows(page, 'their answer counts');
    await runtime.client.waitForIdle(threadId);
    expect(paid).toEqual([1250]);
  });

  it('lets an execution go on that asks for help, and provides variables that a subagent lacks', async () => {
    const fall = defineTool({ description: 'fails', execute: () => ({ status: 'error', error: 'it fell' }) });
    const falls = Array.from({ length: 3 }, () => calls('fall'));
    const model = scriptedModel([...falls, says('Up again.')]);
    const runtime = await testRuntime({ model, tools: { fall }, agent: { guards: { failures: {} } } });
    const { threadId } = await runtime.client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
    const page = await open((await testApi(runtime)).url, `#/threads/${threadId}`);
    await shows(page, '3 calls in a row have failed', '[data-wait=paused]');
    await click(page, '[data-wait=paused] [data-act=approve]');
    await shows(page, 'Up again.', '.scroller');

    const family = await testRuntime({ registry: envoyProject() });
    const { thread } = await waiting(family);
    const other = await open((await testApi(family)).url, `#/threads/${thread}`);
    await shows(other, 'PASSPORT', '[data-wait=variables]');
    expect(await countOf(other, '[data-wait=variables] [data-act=approve]:disabled')).toBe(1);
    await fill(other, '[data-wait=variables] input', PASSPORT);
    await click(other, '[data-wait=variables] [data-act=approve]');
    const [report] = await reported(family, thread);
    expect(report?.content).toContain(`PASSPORT secret ${PASSPORT.length}`);
    await eventually('no card', async () => (await countOf(other, '[data-wait]')) === 0);
    expect(await other.content()).not.toContain(PASSPORT);
  });

  it('answers a question with the fields of its schema', async () => {
    const given: unknown[] = [];
    const book = defineTool({
      description: 'books a table',
      asks: true,
      execute: async (state) => {
        const schema = {
          type: 'object',
          required: ['name'],
          properties: { name: { type: 'string', title: 'Name' }, seats: { type: 'integer' } },
        };
        const { value } = await state.ask({ key: 'who', question: 'For whom?', data: { schema } });
        given.push(value);
        return { status: 'success', result: 'booked' };
      },
    });
    const model = scriptedModel([calls('book', {}), says('Booked.')]);
    const runtime = await testRuntime({ model, tools: { book } });
    const { url } = await testApi(runtime);
    const { threadId } = await runtime.client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
    const page = await open(url, `#/threads/${threadId}`);
    await shows(page, 'For whom?', '[data-wait=question]');
    await click(page, '[data-wait=question] [data-act=approve]');
    await shows(page, '“Name” is needed.');
    await fill(page, '[data-wait=question] [name=name]', 'Ada');
    await fill(page, '[data-wait=question] [name=seats]', '3');
    await click(page, '[data-wait=question] [data-act=approve]');
    await shows(page, 'Booked.');
    expect(given).toEqual([{ name: 'Ada', seats: 3 }]);
  });

  it('has the buttons that the token permits, and keeps the token out of every address', async () => {
    const { runtime, threadId } = await refunding();
    const { url } = await testApi(runtime, { access });
    const page = await open(url, `#/threads/${threadId}`);
    await shows(page, 'This server needs a token');
    await shows(page, 'everthread tokens create');
    await fill(page, '[name=token]', OTHER);
    await page.evaluate(`document.querySelector('form').requestSubmit()`);
    await shows(page, 'This token may not read threads');
    await fill(page, '[name=token]', READER);
    await page.evaluate(`document.querySelector('form').requestSubmit()`);
    await shows(page, '1250', '[data-wait=approval]');
    expect(await countOf(page, '[data-act]')).toBe(0);
    await shows(page, 'Your token may not answer.');
    const writer = await open(url, `#/threads/${threadId}?token=${WRITER}`);
    await shows(writer, '1250', '[data-wait=approval]');
    expect(writer.url()).toBe(`${url}/ui#/threads/${threadId}`);
    expect(await countOf(writer, '[data-act=approve]')).toBe(1);
    await writer.evaluate(`location.hash = '#/threads/${threadId}/raw'`);
    await shows(writer, 'curl', '[data-tab=raw]');
    const copied = (await writer.evaluate(
      `[...document.querySelectorAll('[title]')].map(({ title }) => title).join(' ')`,
    )) as string;
    expect(copied).toContain('$EVERTHREAD_TOKEN');
    expect(`${copied} ${await writer.content()}`).not.toContain(WRITER);
    await runtime.client.terminate(threadId);
  });
});
