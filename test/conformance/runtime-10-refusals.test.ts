/** runtime §10: what a member of ThreadState answers behind the end of its thread. */
import { describe, expect, it } from '@jest/globals';
import type { ThreadState } from '../../src/core/author/thread-state.ts';
import { defineEffect } from '../../src/definitions/index.ts';
import { eventually } from '../support/eventually.ts';
import { familyWork } from '../support/family-work.ts';
import { codeOf, type Work } from '../support/tool-work.ts';

/** Everything that executes, queues, sends, acts or changes. */
const CHANGES: Readonly<Record<string, (state: ThreadState) => unknown>> = {
  queueMessage: (state) => state.queueMessage({ content: 'more' }),
  queueTool: (state) => state.queueTool('look', {}),
  invokeTool: (state) => state.invokeTool('look', {}),
  act: (state) => state.act({ kind: 'mail.send', name: 'mail' }, () => 'sent'),
  scheduleEffect: (state) => state.scheduleEffect('later', {}, 0),
  notifyParent: (state) => state.notifyParent('one more thing'),
  setStatus: (state) => state.setStatus('still here'),
  injectMessage: (state) => state.injectMessage({ role: 'user', content: 'more' }),
  updateMessage: async (state) =>
    state.updateMessage((await state.getMessages()).messages[0]?.id ?? '', { content: 'changed' }),
  deleteMessage: async (state) => state.deleteMessage((await state.getMessages()).messages[0]?.id ?? ''),
  setValue: (state) => state.setValue('key', 'more'),
  setEnv: (state) => state.setEnv('MORE', 'more', { type: 'text' }),
  writeFile: (state) => state.writeFile('/more.txt', 'more', 'text/plain'),
  mkdirFile: (state) => state.mkdirFile('/more'),
  unlinkFile: (state) => state.unlinkFile('/kept.txt'),
};

/** The same in another thread of the family, through a state that was opened while the code's own thread lived. */
const ELSEWHERE: Readonly<Record<string, (other: ThreadState | null) => unknown>> = {
  queueMessage: (other) => other?.queueMessage({ content: 'one more thing' }),
  queueTool: (other) => other?.queueTool('look', {}),
  invokeTool: (other) => other?.invokeTool('look', {}),
  act: (other) => other?.act({ kind: 'mail.send', name: 'mail' }, () => 'sent'),
  scheduleEffect: (other) => other?.scheduleEffect('later', {}, 0),
};

const tryAll: Work = async (state) => {
  const parent = await state.getParentThread();
  await state.setValue('key', 'kept');
  await state.writeFile('/kept.txt', 'kept', 'text/plain');
  await state.terminate();
  const tried: Record<string, unknown> = {};
  for (const [name, change] of Object.entries(CHANGES)) tried[name] = await codeOf(() => change(state));
  const elsewhere: Record<string, unknown> = {};
  for (const [name, change] of Object.entries(ELSEWHERE))
    elsewhere[name] = await codeOf(() => change(parent));
  const { messages } = await state.getMessages();
  return {
    tried,
    elsewhere,
    run: (await state.runCode('export default 1')).status,
    reads: [messages.length > 0, await state.getValue('key'), (await state.statFile('/kept.txt'))?.size],
    terminated: typeof state.terminated,
  };
};

describe('runtime §10 Termination, for code still running', () => {
  it('[runtime 10] every member of ThreadState that executes, queues, sends, acts or changes refuses; reads still work', async () => {
    const { parent, child, client, store, messages } = await familyWork(
      { end: tryAll, look: () => 'looked' },
      { effects: { later: defineEffect('Later.', () => Promise.resolve()) } },
    );
    await client.queueMessage(child, { content: 'do end' });
    const told = await eventually('the result of the tool', async () =>
      (await messages(child)).find(({ name, tool_status: status }) => name === 'end' && status === 'success'),
    );
    expect(JSON.parse(told.content ?? '')).toEqual({
      tried: Object.fromEntries(Object.keys(CHANGES).map((name) => [name, 'ThreadTerminated'])),
      elsewhere: Object.fromEntries(Object.keys(ELSEWHERE).map((name) => [name, 'ThreadTerminated'])),
      run: 'terminated',
      reads: [true, 'kept', 4],
      terminated: 'number',
    });
    expect((await store.children.list(parent))[0]?.status).toBe('terminated');
    expect(JSON.stringify(await messages(parent))).not.toContain('one more thing');
  });
});
