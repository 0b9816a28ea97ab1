/** ThreadState's parent and children in endpoints, effects and hooks (definitions §14.3). */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { ThreadState } from '../../src/core/author/thread-state.ts';
import {
  defineEffect,
  defineHook,
  defineThreadEndpoint,
  defineTool,
  registryFrom,
} from '../../src/definitions/index.ts';
import { createEndpointHandler } from '../../src/server/index.ts';
import { calls, says } from '../../src/testing/index.ts';
import { childProject, handsIn, hasResult, lastTold, modelOf } from '../support/child-project.ts';
import { atRest } from '../support/family-work.ts';
import { closeAfterTest, eventually, testRuntime } from '../support/runtime.ts';
import { create } from '../support/subagent-project.ts';
import { codeOf, toolOf } from '../support/tool-work.ts';

const SCOUT = {
  name: 'scout',
  blocking: false,
  resumable: { receives_messages: 'side_a', parentCommunication: 'explicit' },
} as const;

const firstChild = (state: ThreadState) => state.getChildThread(state.children[0]?.reference ?? '');

/** A parent with one scout, both at rest. */
async function family() {
  const greet = defineHook({
    hook: 'after_subagent_created',
    id: 'greet',
    execute: async (state, child) => {
      const greeter = [state.threadId, state.children.map(({ reference }) => reference)];
      await child.queueMessage({
        role: 'user',
        content: 'hello from the hook',
        silent: true,
        metadata: { greeter },
      });
    },
  });
  const schedule = toolOf((state) => state.scheduleEffect('nudge', { text: 'nudged' }));
  const detour = defineTool({
    description: 'may reach nothing',
    uses: [],
    execute: async (state) => {
      const child = await firstChild(state);
      const queued = await codeOf(() => child?.queueTool('finish', { text: 'sneaked' }));
      const invoked = await child?.invokeTool('finish', { text: 'sneaked' });
      return { status: 'success', result: JSON.stringify([queued, invoked?.error]) };
    },
  });
  const nudge = defineEffect(
    'speaks to the child',
    z.object({ text: z.string() }),
    async (state, { text }) => {
      await (await firstChild(state))?.queueMessage({ role: 'user', content: text });
      await state.notifyParent(`${text} has no parent`);
    },
  );
  const model = modelOf({
    main: (request) => {
      if (hasResult(request)) return says('noted');
      const [verb = ''] = lastTold(request).split(' ');
      return verb === 'send' ? calls('subagent_create', create('look')) : calls(verb);
    },
    scout_desk: (request) => handsIn(lastTold(request)),
  });
  const endpoints = {
    'child.post': defineThreadEndpoint(async (_request, state) => {
      const child = await firstChild(state);
      await child?.queueMessage({ role: 'user', content: 'from the web' });
      child?.queueTool('finish', { text: 'queued' });
      const parent = await child?.getParentThread();
      return Response.json([child?.threadId, child?.execution, parent?.threadId, state.children.length]);
    }),
    'up.post': defineThreadEndpoint(async (_request, state) => {
      await state.notifyParent('from the web');
      await state.setStatus('on the web');
      return Response.json((await state.getParentThread())?.children.map(({ status }) => status) ?? null);
    }),
    'end.post': defineThreadEndpoint(async (_request, state) => {
      await state.terminate();
      const child = await firstChild(state);
      return Response.json([child?.threadId, typeof state.terminated]);
    }),
  };
  const made = childProject({
    model,
    entries: [SCOUT],
    children: { scout: {} },
    tools: { schedule, detour },
    hooks: [greet],
    main: { tools: [SCOUT, 'schedule', 'detour'], hooks: ['greet'] },
  });
  const more = registryFrom({ endpoints, effects: { nudge } });
  const registry = { ...made, endpoints: more.endpoints, effects: more.effects };
  const runtime = await testRuntime({ registry });
  const handler = await createEndpointHandler({ client: runtime.client, registry });
  closeAfterTest(handler.close);
  const ask = async (threadId: string, path: string) => {
    const url = `http://host.test/api/threads/${threadId}/${path}`;
    const response = await handler.handle(new Request(url, { method: 'POST' }));
    return response.json();
  };
  const parent = await runtime.start('send one');
  const [record] = await runtime.store.children.list(parent);
  const child = record?.threadId as string;
  await atRest(runtime, child);
  return { ...runtime, parent, child, ask };
}

describe('ThreadState: the family outside of tools', () => {
  it('[threadstate hierarchy] an endpoint reaches the child: items queued there wake the child', async () => {
    const { parent, child, ask, transcript } = await family();
    expect(await ask(parent, 'child')).toEqual([child, null, parent, 1]);
    const lines = await eventually('the child has acted', async () => {
      const found = await transcript(child);
      return found.includes('tool finish success: queued') ? found : undefined;
    });
    expect(lines).toContain('user: from the web');
    expect((await transcript(parent)).join()).not.toContain('from the web');
  });

  it('[threadstate hierarchy] an endpoint of a child notifies its parent and the registry', async () => {
    const { parent, child, ask, messages, client } = await family();
    expect(await ask(child, 'up')).toEqual(['on the web']);
    const told = await eventually('the notice', async () =>
      (await messages(parent)).find(
        ({ content, metadata }) => content === 'from the web' && !metadata.queued,
      ),
    );
    expect(told).toMatchObject({ silent: true, metadata: { subagent_id: child } });
    await eventually('an answer', async () => (await messages(parent)).at(-1)?.content === 'noted');
    await client.waitForIdle(parent);
    expect(await ask(parent, 'up')).toBeNull();
  });

  it('[threadstate lifecycle] an endpoint that ends its thread ends its descendants, by or soon after its response', async () => {
    const { parent, child, ask, client } = await family();
    expect(await ask(parent, 'end')).toEqual([child, 'number']);
    await eventually('the end', async () => (await client.getThread(child)).terminatedAt !== null);
    for (const id of [parent, child]) {
      const handle = client.temporal.workflow.getHandle(`thread/${id}`);
      expect(await handle.result()).toEqual({ outcome: 'terminated' });
    }
  });

  it('[threadstate hierarchy] an effect reaches the child', async () => {
    const { parent, child, say, transcript, store } = await family();
    await say(parent, 'schedule');
    await eventually('the child has heard', async () => (await transcript(child)).includes('user: nudged'));
    const ended = await eventually('the effect’s end', async () =>
      (await store.events.read(parent, 0, 1000)).find(({ type }) =>
        /^effect\.(done|ended|failed)$/.test(type),
      ),
    );
    expect(ended.type).not.toBe('effect.failed');
  });

  it('[definitions 14.6] a tool outside `uses` cannot be reached through a child either', async () => {
    const { parent, say, transcript } = await family();
    await say(parent, 'detour');
    const refused = 'Tool "detour" may not reach "finish": add it to "uses".';
    expect(await transcript(parent)).toContain(
      `tool detour success: ${JSON.stringify(['InvalidDefinitions', refused])}`,
    );
  });

  it('[definitions 9] after_subagent_created gets the child before it starts, and items queued there come first', async () => {
    const { parent, child, messages, client } = await family();
    const heard = (await messages(child)).filter(({ role }) => role === 'user');
    const greeting = heard.find(({ content }) => content === 'hello from the hook');
    expect(greeting?.metadata.greeter).toEqual([parent, [child]]);
    const told = heard.map(({ content }) => content);
    expect(told).toEqual(expect.arrayContaining(['look', 'hello from the hook']));
    const described = await client.temporal.workflow.getHandle(`thread/${child}`).describe();
    expect(described.parentExecution?.workflowId).toBe(`thread/${parent}`);
  });
});
