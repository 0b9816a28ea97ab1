/** ThreadState's parent and children (definitions §13.5, §14.3): reading them, sending to them, and ending them. */
import { describe, expect, it } from '@jest/globals';
import type { ThreadState } from '../../src/core/author/thread-state.ts';
import { defineHook } from '../../src/definitions/index.ts';
import { atRest, familyWork } from '../support/family-work.ts';
import { eventually } from '../support/runtime.ts';
import { codeOf } from '../support/tool-work.ts';

const childOf = async (state: ThreadState): Promise<ThreadState> => {
  const child = await state.getChildThread(state.children[0]?.reference ?? '');
  if (!child) throw new Error(`${state.threadId} has no child.`);
  return child;
};
const parentOf = async (state: ThreadState): Promise<ThreadState> => {
  const parent = await state.getParentThread();
  if (!parent) throw new Error(`${state.threadId} has no parent.`);
  return parent;
};

describe('ThreadState: children', () => {
  it('[threadstate hierarchy] children is a frozen registry of resumable children, those of one step in one group', async () => {
    const family = await familyWork({
      look: (state) => ({
        children: state.children,
        frozen: Object.isFrozen(state.children) && state.children.every((child) => Object.isFrozen(child)),
      }),
    });
    const { parent, child, tell, store } = family;
    const alone = (await tell(child, 'look')) as { children: unknown[] };
    expect(alone).toEqual({ children: [], frozen: true });
    await store.children.create({
      parentId: parent,
      child: {
        threadId: 'errand',
        agent: 'scout',
        name: null,
        title: null,
        description: '',
        arguments: {},
        resumable: false,
        blocking: false,
        explicit: true,
        hears: 'a',
        messages: [],
      },
      call: null,
      waits: false,
      inherits: () => false,
      given: [],
    });
    await family.say(parent, 'do spawn spawn');
    const { children, frozen } = (await tell(parent, 'look')) as { children: object[]; frozen: boolean };
    expect(frozen).toBe(true);
    expect(children).toHaveLength(3);
    expect(children[0]).toEqual({
      reference: child,
      name: 'scout',
      description: 'does what a scout does',
      resumable: true,
      blocking: false,
      threadName: 'about sit',
      spawnGroupId: expect.any(String),
      createdAt: expect.any(Number),
      status: 'idle',
      parentCommunication: 'explicit',
    });
    const groups = children.map((entry) => (entry as { spawnGroupId: string }).spawnGroupId);
    expect(new Set(groups).size).toBe(3);
  });

  it('[threadstate hierarchy] getChildThread is null unless it is a direct child, alive or not', async () => {
    const { parent, child, tell, childrenOf, client } = await familyWork({
      find: async (state) => {
        const ids = String(await state.getValue('ids')).split(' ');
        const found = await Promise.all(ids.map((id) => state.getChildThread(id)));
        return found.map((each) => each && [each.threadId, each.agentId, each.terminated !== null]);
      },
      learn: async (state) => {
        const { messages } = await state.getMessages({ includeSilent: true });
        const ids = messages.findLast(({ content }) => content?.startsWith('ids '))?.content ?? '';
        await state.setValue('ids', ids.slice(4));
      },
      grow: async (state) => (await childOf(state)).queueMessage({ role: 'user', content: 'do spawn' }),
    });
    await tell(parent, 'grow');
    const grandchild = await eventually('a grandchild', async () => (await childrenOf(child))[0]);
    await client.queueMessage(parent, {
      content: `ids ${child} ${grandchild} ${parent} nobody`,
      silent: true,
    });
    await tell(parent, 'learn');
    expect(await tell(parent, 'find')).toEqual([[child, 'scout', false], null, null, null]);
    await client.terminate(child);
    await eventually('the end', async () => (await client.getThread(child)).terminatedAt !== null);
    expect(await tell(parent, 'find')).toEqual([[child, 'scout', true], null, null, null]);
  });

  it('[threadstate hierarchy] the state of a child is its own: idle, with its agent, messages and files', async () => {
    const { parent, child, tell } = await familyWork({
      use: async (state) => {
        const other = await childOf(state);
        await other.writeFile('/note.txt', 'hello', 'text/plain');
        await other.injectMessage({ role: 'system', content: 'a hint', silent: true });
        state.context.mine = true;
        return {
          id: other.threadId,
          parent: (await parentOf(other)).threadId,
          execution: other.execution,
          context: other.context,
          key: other.idempotencyKey,
          mine: await state.readFile('/note.txt'),
          theirs: new TextDecoder().decode((await other.readFile('/note.txt')) ?? undefined),
          said: (await other.getMessages()).messages.map(({ content }) => content),
          invoked: (await other.invokeTool('own', {})).result,
        };
      },
      own: (state) => [state.threadId, state.execution],
    });
    expect(await tell(parent, 'use')).toEqual({
      id: child,
      parent,
      execution: null,
      context: {},
      key: null,
      mine: null,
      theirs: 'hello',
      said: expect.arrayContaining(['sit']),
      invoked: JSON.stringify([child, null]),
    });
  });

  it('[runtime 8.1] a file attached by code for a child is read from the code’s own thread, and copied', async () => {
    const text = (bytes: ArrayBuffer | null) => (bytes ? new TextDecoder().decode(bytes) : null);
    const { parent, tell } = await familyWork({
      attach: async (state) => {
        const other = await childOf(state);
        await state.writeFile('/both.txt', 'mine', 'text/plain');
        await other.writeFile('/both.txt', 'of the child', 'text/plain');
        await state.writeFile('/alone.txt', 'only mine', 'text/plain');
        const own = await state.injectMessage({ role: 'user', content: 'kept', attachments: ['/both.txt'] });
        const given = [...(own.attachments ?? []), '/both.txt', '/alone.txt'];
        const sent = await other.injectMessage({ role: 'user', content: 'read', attachments: given });
        const paths = (sent.attachments ?? []).map(({ path }) => path);
        const missing = await codeOf(() =>
          other.queueMessage({ content: 'x', attachments: ['/nowhere.txt'] }),
        );
        return {
          texts: await Promise.all(paths.map(async (path) => text(await other.readFile(path)))),
          copied: paths.map((path) => path.startsWith('/attachments/')),
          missing,
        };
      },
    });
    expect(await tell(parent, 'attach')).toEqual({
      texts: ['mine', 'of the child', 'only mine'],
      copied: [true, false, true],
      missing: 'FileNotFound',
    });
  });

  it('[threadstate hierarchy] a message, tool or effect queued to a child wakes it, in order, through its hooks', async () => {
    const stamp = defineHook({
      hook: 'before_create_message',
      id: 'stamp',
      execute: (_state, message) => ({ metadata: { ...message.metadata, stamped: true } }),
    });
    const family = await familyWork(
      {
        hand: async (state) => {
          const other = await childOf(state);
          other.queueTool('note', {});
          await other.queueMessage({ role: 'user', content: 'do note' });
          // Not a user message, so wherever it is in line, the child still does what it was asked.
          const { metadata } = await other.injectMessage({ role: 'system', content: 'aside', silent: true });
          return metadata;
        },
        note: async (state) => {
          await state.setValue('notes', Number((await state.getValue('notes')) ?? 0) + 1);
        },
      },
      {
        hooks: [stamp],
        agents: { scout: { hooks: ['stamp'] } },
      },
    );
    const { parent, child, tell, store, client } = family;
    expect(await tell(parent, 'hand')).toEqual({ stamped: true });
    await eventually('both notes', async () => (await store.values.get(child, 'notes')) === 2);
    await client.waitForIdle(child);
    expect(await store.values.get(parent, 'notes')).toBeNull();
    await client.stop(child, 'enough');
    await eventually('the stop', async () => (await client.getThread(child)).status === 'stopped');
    await tell(parent, 'hand');
    await eventually(
      'a stopped child that goes on',
      async () => (await store.values.get(child, 'notes')) === 4,
    );
  });

  it('[threadstate hierarchy] a secret read through a child is redacted from what its parent stores', async () => {
    const { parent, child, tell, client, messages } = await familyWork({
      give: async (state) => (await childOf(state)).setEnv('KEY', 'swordfish-42'),
      read: async (state) => {
        const value = await (await childOf(state)).env('KEY');
        await state.injectMessage({ role: 'user', content: `it is ${value}`, silent: true });
        return [value, await codeOf(() => state.env('KEY'))];
      },
    });
    await tell(parent, 'give');
    expect(await tell(parent, 'read')).toEqual(['[secret KEY]', 'MissingVariable']);
    expect(JSON.stringify(await messages(parent))).not.toContain('swordfish');
    expect(await client.listEnv({ thread: child })).toMatchObject([{ name: 'KEY', type: 'secret' }]);
  });

  it('[threadstate lifecycle] terminate ends a child and its descendants, and its state and the registry show it at once', async () => {
    const { parent, child, tell, childrenOf, store, client } = await familyWork({
      grow: async (state) => (await childOf(state)).queueMessage({ role: 'user', content: 'do spawn' }),
      end: async (state) => {
        const other = await childOf(state);
        await other.terminate();
        await other.terminate();
        const again = await childOf(state);
        return [
          typeof other.terminated,
          other.terminated === again.terminated,
          await codeOf(() => again.queueMessage({ role: 'user', content: 'more' })),
          (await store.children.list(state.threadId))[0]?.status,
        ];
      },
      late: async (state) => {
        (await childOf(state)).queueTool('look', {});
      },
      look: (state) => state.children.map(({ status }) => status),
    });
    await tell(parent, 'grow');
    const grandchild = await eventually('a grandchild', async () => (await childrenOf(child))[0]);
    await atRest({ client } as never, grandchild);
    expect(await tell(parent, 'end')).toEqual(['number', true, 'ThreadTerminated', 'terminated']);
    await eventually('the end below', async () => (await client.getThread(grandchild)).terminatedAt !== null);
    expect(await tell(parent, 'look')).toEqual(['terminated']);
    expect(await tell(parent, 'late')).toContain('An item queued to another thread was not accepted');
    for (const id of [child, grandchild]) {
      const handle = client.temporal.workflow.getHandle(`thread/${id}`);
      expect(await handle.result()).toEqual({ outcome: 'terminated' });
    }
  });
});

describe('ThreadState: parent', () => {
  it('[threadstate hierarchy] getParentThread is null for the root; items queued by a child wake the parent', async () => {
    const { parent, child, tell, client, transcript } = await familyWork({
      root: async (state) => (await state.getParentThread()) === null,
      ask: async (state) => {
        const other = await parentOf(state);
        await other.queueMessage({ role: 'user', content: 'do root' });
        return [other.threadId, other.children.map(({ reference }) => reference), other.execution];
      },
    });
    expect(await tell(parent, 'root')).toBe(true);
    expect(await tell(child, 'ask')).toEqual([parent, [child], null]);
    await eventually(
      'the parent has acted',
      async () => (await transcript(parent)).at(-1) === 'assistant: done',
    );
    await client.waitForIdle(parent);
    expect((await transcript(parent)).slice(-4)).toEqual([
      'user: do root',
      'assistant:  -> root',
      'tool root success: true',
      'assistant: done',
    ]);
  });

  it('[threadstate hierarchy] notifyParent wakes the parent silently, setStatus updates its registry; both refuse invalid input', async () => {
    const { parent, child, tell, client, messages, store } = await familyWork({
      notify: async (state) => {
        await state.notifyParent('  half way  ');
        return [
          await codeOf(() => state.notifyParent(' \n')),
          await codeOf(() => state.notifyParent(7 as never)),
          await codeOf(() => state.setStatus('')),
        ];
      },
      status: async (state) => {
        await state.setStatus(' digging ');
        return (await state.getParentThread())?.children.map(({ status }) => status);
      },
    });
    const refused = ['InvalidMessage', 'InvalidMessage', 'InvalidMessage'];
    expect(await tell(parent, 'notify')).toEqual(refused);
    expect(await tell(child, 'notify')).toEqual(refused);
    const told = await eventually('the notice', async () =>
      (await messages(parent)).find(({ content, metadata }) => content === 'half way' && !metadata.queued),
    );
    expect(told).toMatchObject({ role: 'user', silent: true, metadata: { subagent_id: child } });
    const results = (await messages(child)).filter(({ name }) => name === 'notify');
    expect(results).toMatchObject([{ metadata: { parent_notification: 'half way' } }]);
    await eventually('an answer to it', async () => (await messages(parent)).at(-1)?.role === 'assistant');
    await client.waitForIdle(parent);
    expect(await tell(child, 'status')).toEqual(['digging']);
    // The child has come to rest since then: it says by itself how it is, so its own words stay.
    expect((await store.children.list(parent))[0]?.status).toBe('digging');
    expect(await tell(parent, 'status')).toBeNull();
    const events = await store.events.read(parent, 0, 1000);
    expect(events.filter(({ type }) => /^subagent\.(notified|status)$/.test(type))).toMatchObject([
      { type: 'subagent.notified', data: { childId: child } },
      { type: 'subagent.status', data: { childId: child, status: 'digging' } },
    ]);
  });
});
