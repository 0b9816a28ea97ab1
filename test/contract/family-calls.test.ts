/** The ceiling of model calls of a family (store/budget/account.ts), in a store that has a low one. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { openStore } from '../../src/store/open-store.ts';
import type { ThreadStore } from '../../src/store/store.ts';
import type { StepRef } from '../../src/store/transaction/from-run.ts';
import { closeAfterTest } from '../support/runtime.ts';
import { createOpened, openParent } from './store/family-driver.ts';
import { message, openThread, type ThreadDriver } from './thread-driver.ts';

async function openWith(familyCalls: number): Promise<ThreadStore> {
  const store = await openStore(`sqlite:${randomUUID()}.db`, process.env.EVERTHREAD_TEST_FOLDER as string, {
    familyCalls,
  });
  closeAfterTest(() => store.close());
  return store;
}

let calls = 100;

/** Asks a model again and again in one step; returns how many requests were sent, of `count`. */
async function askModels(thread: ThreadDriver, ref: StepRef, count: number): Promise<number> {
  for (let sent = 0; sent < count; sent++) {
    const asked = { ...ref, call: calls++, model: 'main', modelId: 'm-1' };
    const { kind } = await thread.store.modelCalls.start(asked);
    if (kind !== 'started') return sent;
  }
  return count;
}

const begin = async (
  thread: ThreadDriver,
  executionId: string,
  ...items: Parameters<ThreadDriver['begin']>[0] & object
) => {
  thread.executionId = executionId;
  thread.afterStep = (await thread.store.threads.get(thread.id))?.lastStep ?? 0;
  return thread.beginCall(items);
};

async function familyRows(store: ThreadStore, ...threads: ThreadDriver[]): Promise<number> {
  let rows = 0;
  for (const { id } of threads) rows += (await store.budgets.read(id)).length;
  return rows;
}

describe('[PL-17] model calls of a family', () => {
  it('are not limited for a thread without children', async () => {
    const store = await openWith(3);
    const thread = await openThread(store);
    expect(await askModels(thread, await thread.beginCall([message('a')]), 9)).toBe(9);
    expect(await familyRows(store, thread)).toBe(0);
    expect(await store.threads.get(thread.id)).toEqual(
      expect.not.objectContaining({ budgeted: expect.anything() }),
    );
  });

  it('end each execution above the limit with an error that names it, messages back and forth included', async () => {
    const store = await openWith(6);
    const root = await openParent(store);
    const child = await createOpened(root);
    await root.commitTool(1, 0, { attempt: 'subagent' });
    await root.rest();
    // The child was asked by the root's execution, the root is by the child's, and so on.
    const asked = await begin(child, 'child-1');
    expect(await askModels(child, asked, 2)).toBe(2);
    await store.children.sendToParent(child.id, message('word'));
    const back = await begin(root, 'root-2');
    expect(await askModels(root, back, 3)).toBe(3);
    expect(await askModels(child, asked, 2)).toBe(1);
    expect(await askModels(root, back, 1)).toBe(0);
    for (const thread of [child, root])
      expect(await thread.events('budget.exceeded')).toMatchObject([
        { data: { limit: 'familyCalls', max: 6, observed: 7 } },
      ]);
    const error = {
      code: 'BudgetExceeded',
      message: expect.stringMatching(/familyCalls is 6.*EVERTHREAD_FAMILY_CALLS/),
    };
    expect(await store.modelCalls.start({ ...back, call: calls++, model: 'main', modelId: 'm-1' })).toEqual({
      ...{ kind: 'exceeded', error },
    });
    // What somebody else sends begins another execution, with a ceiling of its own.
    await root.commit(back);
    root.afterStep = back.step;
    await root.rest();
    expect(await askModels(root, await begin(root, 'root-3', message('again')), 9)).toBe(9);
  });

  it('include those of an effect scheduled by an effect of the execution', async () => {
    const store = await openWith(2);
    const root = await openParent(store);
    await createOpened(root);
    await store.effects.schedule(root.id, { id: 'e1', name: 'again', args: {}, delayMs: 0 });
    await root.commitTool(1, 0, { attempt: 'subagent' });
    await root.rest();
    const first = await store.effects.begin(root.from);
    expect(first).toMatchObject({ kind: 'run' });
    await store.effects.schedule(root.id, { id: 'e2', name: 'again', args: {}, delayMs: 0 });
    await store.queue.add(root.id, message('from-e2'), { own: false, effect: 'e2' });
    expect(await askModels(root, await begin(root, 'root-2'), 9)).toBe(2);
  });

  it('are not limited if the setting is 0', async () => {
    const store = await openWith(0);
    const root = await openParent(store);
    const child = await createOpened(root);
    expect(await askModels(child, await begin(child, 'child-1'), 9)).toBe(9);
  });
});
