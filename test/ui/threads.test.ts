/** Threads on the page, in a real browser: the list, one thread live, what is sent and stopped from it, text of others. */
import { expect, it } from '@jest/globals';
import { tokenAccess } from '../../src/server/api/access.ts';
import { calls, hangs, says, scriptedModel } from '../../src/testing/index.ts';
import { testApi } from '../support/api.ts';
import { eventually, testRuntime } from '../support/runtime.ts';
import { browsing, click, countOf, fill, inBrowser, shows, textOf } from './browsed.ts';
import { weatherTools } from './weather.ts';

inBrowser('threads on the page', () => {
  const open = browsing();

  it('lists threads, and shows a new one without a reload', async () => {
    const model = scriptedModel(() => says('All is well.'));
    const runtime = await testRuntime({ model, fresh: true });
    const { url } = await testApi(runtime);
    const page = await open(url);
    await shows(page, 'No threads yet');
    await shows(page, 'everthread threads start AGENT');
    const threadId = await runtime.start('Is all well?');
    await eventually('its row', async () => (await countOf(page, `a[href="#/threads/${threadId}"]`)) === 1);
    await shows(page, 'idle', 'ul.list');
    await click(page, `a[href="#/threads/${threadId}"]`);
    await shows(page, 'All is well.');
    expect(page.url()).toBe(`${url}/ui#/threads/${threadId}`);
  });

  it('drops a thread that was deleted, also for a token that may read only those of its user', async () => {
    const runtime = await testRuntime({ model: scriptedModel(() => says('hello')), fresh: true });
    const { client } = runtime;
    const access = tokenAccess(`${'ada'.padEnd(24, '-')}=read@ada`);
    const { url } = await testApi(runtime, { access });
    const [gone, kept] = await Promise.all(
      ['gone', 'kept'].map((content) =>
        client.startThread({ agent: 'helper', userId: 'ada', messages: [{ content }] }),
      ),
    );
    for (const thread of [gone, kept]) await client.waitForIdle(thread?.threadId as string);
    const page = await open(url);
    await shows(page, 'This server needs a token');
    await page.setRequestInterception(true);
    page.on(
      'request',
      (request) => void request.continue({ url: request.url().replace('wait=20', 'wait=1') }),
    );
    await fill(page, '[name=token]', 'ada'.padEnd(24, '-'));
    await page.evaluate(`document.querySelector('form').requestSubmit()`);
    await shows(page, 'gone', 'main');
    await client.deleteThread(gone?.threadId as string);
    await eventually('one row', async () => (await countOf(page, '[data-row]')) === 1);
    await shows(page, 'kept', 'main');
  });

  it('shows the filters that its address has', async () => {
    const runtime = await testRuntime({ model: scriptedModel(() => says('hello')), fresh: true });
    const { url } = await testApi(runtime);
    await runtime.start('one');
    const page = await open(url, '#/threads?changed=7&sort=cost');
    const chosen = (name: string) => page.evaluate(`document.querySelector('[name=${name}]').value`);
    await shows(page, 'Filters and order');
    expect([await chosen('changed'), await chosen('sort')]).toEqual(['7', 'cost']);
    await fill(page, '[name=changed]', '1');
    await eventually('the address', () => page.url() === `${url}/ui#/threads?sort=cost&changed=1`);
    await fill(page, '[name=sort]', '');
    await shows(page, 'hello', 'ul.list');
    expect([await chosen('changed'), await chosen('sort')]).toEqual(['1', '']);
  });

  it('tells a thread as a chat, with a line for each step and the call of a tool folded', async () => {
    const model = scriptedModel([calls('weather', { city: 'Rome' }), says('It is sunny in Rome.')]);
    const runtime = await testRuntime({ model, tools: weatherTools('sunny, 31 degrees') });
    const { url } = await testApi(runtime);
    const threadId = await runtime.start('How is Rome?');
    const page = await open(url, `#/threads/${threadId}`);
    await shows(page, 'It is sunny in Rome.');
    const text = await textOf(page, '.scroller');
    const order = ['How is Rome?', 'Step 1', 'weather', 'Step 2', 'It is sunny in Rome.'];
    expect(order.map((words) => text.indexOf(words))).toEqual(
      order.map((words) => text.indexOf(words)).toSorted((a, b) => a - b),
    );
    expect(text.indexOf('How is Rome?')).toBeGreaterThanOrEqual(0);
    expect(text).not.toContain('31 degrees');
    await click(page, '[data-tool=weather] summary');
    await shows(page, '31 degrees');
    await shows(page, '"city": "Rome"');
  });

  it('shows an answer while the model writes it, and sends and stops from the page', async () => {
    const model = scriptedModel(({ messages }) => {
      const said = messages.findLast(({ role }) => role === 'user')?.content;
      return said === 'wait'
        ? hangs({ after: 'I was about to' })
        : says('one two three four five six', { chunks: 6, chunkDelayMs: 200 });
    });
    const runtime = await testRuntime({ model });
    const { url } = await testApi(runtime);
    const threadId = await runtime.start('first');
    const page = await open(url, `#/threads/${threadId}`);
    await shows(page, 'one two three four five six');
    await fill(page, '#send', 'wait');
    await click(page, '[data-act=send]');
    await shows(page, 'I was about to', '.live');
    expect(await textOf(page, '.command')).toContain('everthread threads');
    await click(page, '[data-act=stop]');
    await shows(page, 'stopped', 'h1');
    expect((await runtime.client.getThread(threadId)).status).toBe('stopped');
    expect(await page.evaluate(`document.querySelector('#send').value`)).toBe('');
    expect((await runtime.messages(threadId)).filter(({ content }) => content === 'wait')).toHaveLength(1);
  });

  it('is walked through by the keyboard, which presses nothing by itself', async () => {
    const runtime = await testRuntime({ model: scriptedModel(() => says('hello')), fresh: true });
    const { url } = await testApi(runtime);
    const [first, second] = [await runtime.start('one'), await runtime.start('two')];
    const page = await open(url);
    const focused = () =>
      page.evaluate(`document.activeElement.getAttribute('href') ?? document.activeElement.id`);
    await eventually('both rows', async () => (await countOf(page, '[data-row]')) === 2);
    await page.keyboard.press('j');
    expect(await focused()).toBe(`#/threads/${second}`);
    await page.keyboard.press('j');
    expect(await focused()).toBe(`#/threads/${first}`);
    await page.keyboard.press('k');
    await page.keyboard.press('/');
    expect(await focused()).toBe('search');
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await shows(page, 'to the button that approves', '[role=dialog]');
    await page.keyboard.press('Escape');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await shows(page, 'hello', '.scroller');
    await page.keyboard.press('s');
    expect(await focused()).toBe('send');
    await page.keyboard.type('typed j k a d');
    await page.keyboard.press('Enter');
    await eventually('it was sent', async () =>
      (await runtime.messages(second)).some(({ content }) => content === 'typed j k a d'),
    );
    await runtime.client.waitForIdle(second);
  });

  it('forks a thread at rest, and shows the fork', async () => {
    const runtime = await testRuntime({ model: scriptedModel(() => says('Hi.')) });
    const { url } = await testApi(runtime);
    const { threadId } = await runtime.client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
    await runtime.client.waitForIdle(threadId);
    const page = await open(url, `#/threads/${threadId}`);
    await shows(page, 'Hi.');
    await click(page, '[data-act=fork]');
    await shows(page, `A fork of the thread ${threadId} is made after its step 1`);
    const forks = (await runtime.client.listThreads()).filter(
      ({ forkedFrom }) => forkedFrom?.threadId === threadId,
    );
    expect(forks).toHaveLength(1);
  });

  it('asks before it terminates a thread, and does not when it is kept', async () => {
    const runtime = await testRuntime({ model: scriptedModel(() => says('hello')) });
    const { url } = await testApi(runtime);
    const threadId = await runtime.start('hi');
    const page = await open(url, `#/threads/${threadId}`);
    await click(page, '[data-act=terminate]');
    await shows(page, 'End this thread permanently?');
    expect((await runtime.client.getThread(threadId)).terminatedAt).toBeNull();
    await click(page, '[data-act=confirm]');
    await shows(page, 'This thread is terminated');
    expect((await runtime.client.getThread(threadId)).terminatedAt).not.toBeNull();
  });

  it('shows text of others as text, wherever it comes from', async () => {
    const evil = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script><svg onload="document.title='owned'">\u202Egnp.exe`;
    const words = 'w'.repeat(1_000_000);
    const model = scriptedModel([calls('weather', { city: evil }, { text: evil }), says(`${evil} ${words}`)]);
    const runtime = await testRuntime({ model, tools: weatherTools(evil) });
    const { url } = await testApi(runtime);
    const { threadId } = await runtime.client.startThread({
      agent: 'helper',
      tags: [evil.slice(0, 60)],
      messages: [
        {
          content: evil,
          attachments: [
            {
              name: '<b>x</b>.svg',
              mimeType: 'image/svg+xml',
              data: new TextEncoder().encode(
                `<svg xmlns="http://www.w3.org/2000/svg" onload="document.title='owned'"/>`,
              ),
            },
          ],
        },
      ],
    });
    await runtime.client.waitForIdle(threadId);
    const page = await open(url, `#/threads/${threadId}`);
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(String(error)));
    await shows(page, 'Show all');
    await page.evaluate(`document.querySelector('.scroller').scrollTop = 0`);
    await shows(page, 'onerror=');
    await click(page, '[data-tool=weather] summary');
    await shows(page, '<b>x</b>.svg');
    for (const tab of ['raw', 'files', 'request', 'timeline', 'family']) {
      await page.evaluate(`location.hash = '#/threads/${threadId}/${tab}'`);
      await eventually(tab, async () => (await countOf(page, `[data-tab=${tab}]`)) === 1);
    }
    await page.evaluate(`location.hash = '#/threads'`);
    await shows(page, 'helper', 'ul.list');
    expect(await countOf(page, 'img, svg, .words script, .words b')).toBe(0);
    expect(await page.title()).not.toContain('owned');
    expect(errors).toEqual([]);
  });
});
