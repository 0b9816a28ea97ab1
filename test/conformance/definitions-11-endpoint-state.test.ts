/** definitions §11 Endpoints: what their state can do on real threads: queue work, read, write, run code, terminate. */
import { describe, expect, it } from '@jest/globals';
import { says, scriptedModel } from '../../src/testing/index.ts';
import { endpointSite, show } from '../support/endpoint-site.ts';
import { eventually } from '../support/runtime.ts';

describe('definitions §11 the state of an endpoint', () => {
  it('[definitions 11] items queued by an endpoint start an execution: messages with all their fields', async () => {
    const model = scriptedModel(() => says('seen'));
    const { ask, start, client, messages } = await endpointSite(
      {
        'messages.post': async (_request, state) => {
          await state.writeFile('/notes/a.txt', 'a note', 'text/plain');
          await state.queueMessage({
            content: '',
            metadata: { from: 'the web' },
            attachments: ['/notes/a.txt'],
          });
          await state.queueMessage({ content: 'x'.repeat(20_000), role: 'assistant', silent: true });
          return new Response(null, { status: 202 });
        },
      },
      model,
    );
    const thread = await start();
    expect((await ask(`POST /${thread}/messages`)).status).toBe(202);
    await client.waitForIdle(thread);
    const [first, ...others] = await messages(thread);
    expect(first).toMatchObject({ role: 'user', content: '', metadata: { from: 'the web' } });
    expect(first?.attachments).toMatchObject([{ name: 'a.txt', mimeType: 'text/plain' }]);
    expect(others).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ role: 'assistant', silent: true, content: 'x'.repeat(20_000) }),
        expect.objectContaining({ role: 'assistant', content: 'seen' }),
      ]),
    );
  });

  it('[definitions 11] queueTool runs any tool of the project, in order, durable before the response', async () => {
    const { ask, start, client, transcript } = await endpointSite(
      {
        'refund.post': (_request, state) => {
          state.queueTool('refund', { order: '1', note: 'n'.repeat(50_000) });
          state.queueTool('refund', { order: '2' });
          return new Response('queued');
        },
        'nothing.post': (_request, state) => {
          state.queueTool('no_such_tool', {});
          return new Response('queued');
        },
      },
      scriptedModel(() => says('done')),
    );
    const thread = await start();
    expect(await (await ask(`POST /${thread}/refund`)).text()).toBe('queued');
    await client.waitForIdle(thread);
    expect((await transcript(thread)).filter((line) => line.startsWith('tool'))).toEqual([
      'tool refund success: refunded 1, noting 50000',
      'tool refund success: refunded 2',
    ]);
    expect(await show(await ask(`POST /${thread}/nothing`))).toEqual({
      status: 404,
      body: { code: 'DefinitionNotFound', error: 'Tool not found: no_such_tool' },
    });
  });

  it('[definitions 11] a signal cannot pretend to come from code of the project', async () => {
    const { start, client, transcript } = await endpointSite(
      {},
      scriptedModel(() => says('done')),
    );
    const thread = await start();
    const claimed = { id: 'claimed', name: 'refund', arguments: { order: '8' }, origin: 'code' };
    await client.queueTool(thread, claimed);
    await client.waitForIdle(thread);
    const handle = client.temporal.workflow.getHandle(`thread/${thread}`);
    await handle.signal('queueTool', { ...claimed, id: 'claimed-again' });
    await eventually('the refusals', async () => (await refusals()).length === 2);
    async function refusals() {
      return (await transcript(thread)).filter((line) => line.startsWith('tool refund error'));
    }
    expect((await refusals())[0]).toContain('"refund" is not available to this prompt');
  });

  it('[definitions 11] the state reads and writes messages, values, files, effects and code', async () => {
    const { ask, start, messages } = await endpointSite({
      'all.post': async (_request, state) => {
        await state.injectMessage({ role: 'user', content: 'injected' });
        await state.setValue('count', 3);
        const effect = await state.scheduleEffect('remind', {}, 3_600_000);
        const { result } = await state.runCode('export default 6 * 7');
        const invoked = await state.invokeTool('refund', { order: '9' });
        return Response.json({
          result,
          count: await state.getValue('count'),
          scheduled: (await state.getScheduledEffects()).map(({ id }) => id === effect),
          invoked: invoked.result,
          total: (await state.getMessages()).total,
        });
      },
    });
    const thread = await start();
    expect(await (await ask(`POST /${thread}/all`)).json()).toEqual({
      result: 42,
      count: 3,
      scheduled: [true],
      invoked: 'refunded 9',
      total: 1,
    });
    // An injected message is not queued, so no execution has run.
    expect(await messages(thread)).toMatchObject([{ content: 'injected', metadata: { stamped: true } }]);
  });

  it('[definitions 11] an effect scheduled by an endpoint fires while the thread is idle', async () => {
    const { ask, start, store } = await endpointSite({
      'remind.post': async (_request, state) => Response.json(await state.scheduleEffect('remind', {}, 200)),
    });
    const thread = await start();
    expect((await ask(`POST /${thread}/remind`)).status).toBe(200);
    await eventually('the effect', async () => (await store.values.get(thread, 'reminded')) === true);
  });

  it('[definitions 11] terminate ends the thread at once; its endpoints may still read, but not write', async () => {
    const model = scriptedModel([says('hello')]);
    const { ask, start, client, failures } = await endpointSite(
      {
        'end.post': async (_request, state) => {
          await state.terminate();
          const error = await state.setValue('a', 1).catch(({ code }: { code: string }) => code);
          return Response.json({ error });
        },
        count: async (_request, state) =>
          Response.json({ total: (await state.getMessages()).total, ended: state.terminated !== null }),
        'say.post': async (_request, state) => {
          await state.queueMessage({ content: 'still there?' });
          return new Response();
        },
        'refund.post': (_request, state) => {
          state.queueTool('refund', { order: '1' });
          return new Response('queued');
        },
      },
      model,
    );
    const thread = await start('hi');
    expect(await show(await ask(`POST /${thread}/end`))).toEqual({
      status: 200,
      body: { error: 'ThreadTerminated' },
    });
    expect(await (await ask(`GET /${thread}/count`)).json()).toEqual({ total: 2, ended: true });
    for (const path of ['say', 'refund']) {
      expect(await show(await ask(`POST /${thread}/${path}`))).toEqual({
        status: 410,
        body: { error: `Thread "${thread}" is terminated; start a new one.`, code: 'ThreadTerminated' },
      });
    }
    expect(failures).toEqual([]);
    const handle = client.temporal.workflow.getHandle(`thread/${thread}`);
    expect(await handle.result()).toEqual({ outcome: 'terminated' });
  });

  it("[definitions 11] running code ends with the caller's request and with the server", async () => {
    const statuses: string[] = [];
    let runs = 0;
    const { ask, start, close } = await endpointSite({
      loop: async (_request, state) => {
        const run = state.runCode('export default async () => { for (;;) await null; }', {
          execute: { args: [] },
        });
        runs += 1;
        const { status } = await run;
        statuses.push(status);
        return Response.json(status);
      },
    });
    const thread = await start();
    const gone = new AbortController();
    const answered = ask(`GET /${thread}/loop`, { signal: gone.signal });
    await eventually('the first run', async () => runs === 1);
    gone.abort();
    await answered;
    const last = ask(`GET /${thread}/loop`);
    await eventually('the second run', async () => runs === 2);
    await close();
    await last;
    expect(statuses).toEqual(['terminated', 'terminated']);
    expect(await show(await ask(`GET /${thread}/loop`))).toEqual({
      status: 503,
      body: { error: 'The server is closing.' },
    });
  });
});
