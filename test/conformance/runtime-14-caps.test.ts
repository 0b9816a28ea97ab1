/** runtime §14.2: how much a thread may store, and what happens beyond that. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { LIMITS } from '../../src/core/value/limit.ts';
import { defineTool } from '../../src/definitions/index.ts';
import type { ThreadStore } from '../../src/store/store.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { openFilledThread } from '../contract/filled-thread.ts';
import { openThread } from '../contract/thread-driver.ts';
import { testRuntime, testStore } from '../support/runtime.ts';

async function withThread(): Promise<{ store: ThreadStore; id: string }> {
  const store = await testStore();
  return { store, id: (await openThread(store)).id };
}

describe('runtime §14.2 Capacity and Errors', () => {
  it.each<[string, string, unknown, string]>([
    ['the length of a key', 'k'.repeat(LIMITS.valueKeyChars + 1), 1, 'the limit is 512'],
    ['the size of a value', 'k', 'x'.repeat(LIMITS.valueBytes), `exceeds ${LIMITS.valueBytes} bytes`],
    ['the depth of a value', 'k', deep(LIMITS.jsonDepth + 1), 'deeper than 1000 levels'],
  ])(
    '[runtime 14.2] setValue beyond %s is rejected with an error that names the limit',
    async (_, key, value, words) => {
      const { store, id } = await withThread();
      await expect(store.values.set(id, key, value)).rejects.toMatchObject({
        code: 'LimitExceeded',
        message: expect.stringContaining(words),
      });
    },
  );

  it('[runtime 14.2] a key above the limit is rejected, while existing ones can be changed and deleted', async () => {
    const { store, id, copyRow } = await openFilledThread();
    const keys = Array.from({ length: LIMITS.valuesPerThread }, (_, n) => `k${n}`);
    await store.values.set(id, 'k0', 1);
    copyRow('thread_values', 'key', 'k0', keys.slice(1, -20));
    await Promise.all(keys.slice(-20).map((key) => store.values.set(id, key, 1)));
    await expect(store.values.set(id, 'one more', 1)).rejects.toMatchObject({
      code: 'LimitExceeded',
      message: expect.stringContaining('10000 keys'),
    });
    await store.values.set(id, 'k7', 2);
    await store.values.set(id, 'k8', null);
    await store.values.set(id, 'one more', 1);
    expect([await store.values.get(id, 'k7'), await store.values.get(id, 'one more')]).toEqual([2, 1]);
  });

  it('[runtime 14.2] a tool gets a rejection above the limit, and continues', async () => {
    const greedy = defineTool({
      description: 'keeps too much',
      execute: async (state) => {
        const refusal = await state.setValue('k', 'x'.repeat(300_000)).catch(({ code }) => code as string);
        await state.setValue('k', 'small');
        return { status: 'success', result: `${refusal} ${await state.getValue('k')}` };
      },
    });
    const runtime = await testRuntime({
      model: scriptedModel([calls('greedy'), says('ok')]),
      tools: { greedy },
    });
    const transcript = await runtime.transcript(await runtime.start('go'));
    expect(transcript).toContain('tool greedy success: LimitExceeded small');
  });

  it('[runtime 14.2] the caps are documented', () => {
    const page = operations();
    for (const words of ['512 characters', '256 KiB of JSON', '10,000']) expect(page).toContain(words);
  });
});

function operations(): string {
  return readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'operations.md'), 'utf8');
}

function deep(levels: number): unknown {
  let value: unknown = 1;
  for (let n = 0; n < levels; n++) value = [value];
  return value;
}
