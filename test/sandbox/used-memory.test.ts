/**
 * How long a child waits for the memory figure of a settled run: longer than a busy machine is late, and not for ever.
 */
import { describe, expect, it } from '@jest/globals';
import { readUsedMemory } from '../../src/sandbox/child/engine.ts';
import { SANDBOX_LIMITS } from '../../src/sandbox/index.ts';

type Heap = Awaited<ReturnType<Parameters<typeof readUsedMemory>[0]['getHeapStatistics']>>;

const HEAP = { used_heap_size: 3, externally_allocated_size: 4 } as Heap;
const ask = (getHeapStatistics: () => Promise<Heap>, isDisposed = false) =>
  readUsedMemory({ isDisposed, getHeapStatistics });
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('the memory of a settled run', () => {
  it('is reported if its thread answers late', async () => {
    const late = () => new Promise<Heap>((resolve) => setTimeout(resolve, 20, HEAP));
    expect(await ask(late)).toBe(7);
  });

  it('is reported if the answer was in time and the child too busy to read it', async () => {
    // From here on, timers run first in the next turn.
    await turn();
    const answered = async () => {
      const read = turn();
      const end = performance.now() + SANDBOX_LIMITS.stopGraceMs + 20;
      while (performance.now() < end);
      await read;
      return HEAP;
    };
    expect(await ask(answered)).toBe(7);
  });

  it('is undefined while the code blocks its thread, and if the isolate is gone', async () => {
    expect(await ask(() => new Promise(() => undefined))).toBeUndefined();
    expect(await ask(() => Promise.reject(new Error('Isolate is disposed')))).toBeUndefined();
    expect(await ask(() => Promise.resolve(HEAP), true)).toBeUndefined();
  });
});
