/** definitions §11 Endpoints over HTTP, on real threads: which one a request reaches, how failures are reported. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { createEndpointHandler } from '../../src/server/index.ts';
import { SOUND, temporaryProject } from '../definitions/temporary-project.ts';
import { endpointSite, show } from '../support/endpoint-site.ts';
import { closeAfterTest, eventually } from '../support/runtime.ts';

const SECRET = 'swordfish-4711';

describe('definitions §11 Endpoints', () => {
  it('[definitions 11] an endpoint is called with the request, the state of the idle thread, and the bracketed parameters', async () => {
    const { ask, start } = await endpointSite({
      'orders/[id]/[*].post': async (request, state, params) =>
        Response.json({
          params,
          sent: await request.json(),
          thread: state.threadId,
          execution: state.execution,
        }),
      orders: () => new Response('all', { headers: { 'x-kind': 'list' } }),
      index: (_request, state) => Response.json(state.agentId),
    });
    const thread = await start();
    const body = JSON.stringify({ amount: 3 });
    expect(await show(await ask(`POST /${thread}/orders/7%2F8/lines/2/`, { body }))).toEqual({
      status: 200,
      body: { params: { id: '7/8', '*': 'lines/2' }, sent: { amount: 3 }, thread, execution: null },
    });
    expect(await (await ask(`GET /${thread}`)).json()).toBe('helper');
    const head = await ask(`HEAD /${thread}/orders`);
    expect([head.status, head.headers.get('x-kind'), await head.text()]).toEqual([200, 'list', '']);
  });

  it('[definitions 11] a missing thread id is 400, an unknown thread or path 404, another method 405 with the allowed ones', async () => {
    const { ask, start, failures } = await endpointSite({
      orders: () => new Response(),
      'orders.post': () => new Response(),
    });
    const thread = await start();
    expect(await show(await ask('GET /'))).toEqual({
      status: 400,
      body: { error: expect.stringContaining('must name a thread, as in /api/threads/THREAD/path') },
    });
    expect((await ask('GET /no%20thread/orders')).status).toBe(400);
    expect((await ask('GET /%E0%A4/orders')).status).toBe(400);
    const unknown = randomUUID();
    expect(await show(await ask(`GET /${unknown}/orders`))).toEqual({
      status: 404,
      body: { error: `Thread "${unknown}" is not in this store.`, code: 'ThreadNotFound' },
    });
    for (const path of [`/${thread}/order`, `/${thread}`, `/${thread}/%E0%A4`, `s/${thread}/orders`]) {
      expect((await ask(`GET ${path}`)).status).toBe(404);
    }
    const refused = await ask(`DELETE /${thread}/orders`);
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST']);
    expect(failures).toEqual([]);
  });

  it('[definitions 11] an endpoint that throws answers 500 with the redacted text; runtime errors keep their status', async () => {
    const { ask, start, client, failures } = await endpointSite({
      throws: async (_request, state) => {
        throw new Error(`no luck with ${await state.env('KEY')}`);
      },
      missing: async (_request, state) => new Response(await state.env('NOTHING')),
      nothing: (() => ({ status: 'success' })) as never,
      late: async (_request, state) => {
        setTimeout(() => (thrown = catchThrown(() => state.queueTool('refund', { order: '1' }))), 0);
        return new Response();
      },
      odd: () => {
        throw Object.create(null);
      },
    });
    let thrown: unknown;
    const thread = await start();
    await client.setEnv({ thread }, 'KEY', SECRET);
    expect(await show(await ask(`GET /${thread}/throws`))).toEqual({
      status: 500,
      body: { error: 'no luck with [secret KEY]' },
    });
    expect(await show(await ask(`GET /${thread}/missing`))).toEqual({
      status: 409,
      body: { error: expect.stringContaining('"NOTHING" has no value'), code: 'MissingVariable' },
    });
    expect(await show(await ask(`GET /${thread}/nothing`))).toEqual({
      status: 500,
      body: { error: expect.stringContaining('The endpoint "nothing" did not return a Response') },
    });
    expect((await ask(`GET /${thread}/odd`)).status).toBe(500);
    expect(failures.map(({ endpoint, threadId }) => [endpoint, threadId === thread])).toEqual([
      ['throws', true],
      ['nothing', true],
      ['odd', true],
    ]);
    await ask(`GET /${thread}/late`);
    await eventually('the late call', async () => thrown !== undefined);
    expect(String(thrown)).toContain('has already returned');
  });

  it('[definitions 11] endpoints of a project on disk are served under a configured prefix', async () => {
    const project = temporaryProject({
      ...SOUND,
      'agents/api/hello/[name].ts':
        "import { defineThreadEndpoint } from 'everthread';\nexport default defineThreadEndpoint((_request, _state, { name }) => new Response('hello ' + name));\n",
    });
    closeAfterTest(async () => project.remove());
    const { start, client } = await endpointSite({});
    const endpoints = await createEndpointHandler({
      client,
      projectDir: project.folder,
      prefix: '/threads/',
    });
    closeAfterTest(endpoints.close);
    const thread = await start();
    const response = await endpoints.handle(new Request(`http://host.test/threads/${thread}/hello/ada`));
    expect(await response.text()).toBe('hello ada');
    project.write({ 'agents/api/hello/[other].ts': 'export const a = 1;' });
    await expect(createEndpointHandler({ client, projectDir: project.folder })).rejects.toMatchObject({
      code: 'InvalidDefinitions',
      message: expect.stringContaining('agents/api/hello/[other].ts'),
    });
  });
});

function catchThrown(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error;
  }
}
