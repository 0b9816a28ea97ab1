/** runtime §14.1 in a family: each thread has its own values, files and variables. */
import { describe, expect, it } from '@jest/globals';
import type { ThreadState } from '../../src/core/author/thread-state.ts';
import { atRest, familyWork } from '../support/family-work.ts';
import { codeOf, type Work } from '../support/tool-work.ts';

/** What a thread sees under names that other threads of its family have used too. */
const look: Work = async (state) => [
  await state.getValue('key'),
  await state.readFile('/note.txt').then((bytes) => bytes && new TextDecoder().decode(bytes)),
  Object.keys(state.context),
];
const hold: Work = async (state) => {
  await state.setValue('key', state.threadId);
  await state.writeFile('/note.txt', state.threadId, 'text/plain');
  state.context.scratch = state.threadId;
};

describe('runtime §14.1 Values in a family', () => {
  it('[runtime 14.1.3] parent, child and siblings have separate keys', async () => {
    const { parent, child, tell, say, childrenOf, client } = await familyWork({ look, hold });
    await say(parent, 'do spawn');
    const [, sibling = ''] = await childrenOf(parent);
    await atRest({ client } as never, sibling);
    await tell(child, 'hold');
    expect(await tell(parent, 'look')).toEqual([null, null, []]);
    expect(await tell(sibling, 'look')).toEqual([null, null, []]);
    await tell(parent, 'hold');
    expect(await tell(sibling, 'look')).toEqual([null, null, []]);
    expect(await tell(child, 'look')).toEqual([child, child, []]);
    expect(await tell(parent, 'look')).toEqual([parent, parent, []]);
  });

  it('[runtime 14.1.3] code of parent, child and siblings cannot reach values of another through state or invoked tools', async () => {
    const reach = async (other: ThreadState | null) => [
      await codeOf(() => other?.getValue('key')),
      await codeOf(() => other?.setValue('key', 'taken')),
      (await other?.invokeTool('look', {}))?.error,
    ];
    const { parent, child, tell, say, childrenOf, client, store } = await familyWork({
      look,
      hold,
      down: async (state) => reach(await state.getChildThread(state.children[0]?.reference ?? '')),
      up: async (state) => reach(await state.getParentThread()),
      across: async (state) => {
        const above = await state.getParentThread();
        return reach((await above?.getChildThread(above.children[1]?.reference ?? '')) ?? null);
      },
      // The code's own thread, reached through its parent.
      back: async (state) => {
        const own = await (await state.getParentThread())?.getChildThread(state.threadId);
        return own?.getValue('key');
      },
    });
    await say(parent, 'do spawn');
    const [, sibling = ''] = await childrenOf(parent);
    await atRest({ client } as never, sibling);
    for (const thread of [parent, child, sibling]) await tell(thread, 'hold');
    const refused = (thread: string) => [
      'ValuesNotShared',
      'ValuesNotShared',
      expect.stringContaining(`values of thread "${thread}"`),
    ];
    expect(await tell(parent, 'down')).toEqual(refused(child));
    expect(await tell(child, 'up')).toEqual(refused(parent));
    expect(await tell(child, 'across')).toEqual(refused(sibling));
    expect(await tell(child, 'back')).toBe(child);
    for (const thread of [parent, child, sibling]) expect(await store.values.get(thread, 'key')).toBe(thread);
  });

  it('[runtime 14.1.8] a child starts without its parent’s values and files, and leaves none when it ends', async () => {
    const { parent, tell, childrenOf, client, store } = await familyWork({
      hold,
      look,
      end: async (state: ThreadState) => {
        await state.setValue('left', 'behind');
        await (await state.getChildThread(state.children.at(-1)?.reference ?? ''))?.terminate();
      },
    });
    await tell(parent, 'hold', 'spawn');
    const [, second = ''] = await childrenOf(parent);
    await atRest({ client } as never, second);
    expect(await tell(second, 'look')).toEqual([null, null, []]);
    await tell(second, 'hold');
    await tell(parent, 'end');
    expect(await tell(parent, 'look')).toEqual([parent, parent, []]);
    expect((await store.values.list(parent)).map(({ key }) => key)).toEqual(['key', 'left']);
    expect((await store.values.list(second)).map(({ key }) => key)).toEqual(['key']);
  });
});
