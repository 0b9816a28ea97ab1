/** How many threads a worker keeps in memory, and that an evicted thread still continues. */
import { describe, expect, it } from '@jest/globals';
import { BYTES_OF_A_CACHED_THREAD, cachedThreadsFor, readConfiguration } from '../../src/configuration.ts';
import { says, scriptedModel } from '../../src/testing/index.ts';
import { testRuntime } from '../support/runtime.ts';

const GIB = 1024 ** 3;

describe('the number of cached threads', () => {
  it('follows the memory of the machine', () => {
    expect(cachedThreadsFor({ available: 2 * GIB, heapLimit: 4 * GIB })).toBe(
      GIB / 2 / BYTES_OF_A_CACHED_THREAD,
    );
  });

  it('stays within half of the heap that V8 allows', () => {
    expect(cachedThreadsFor({ available: 256 * GIB, heapLimit: 2 * GIB })).toBe(
      GIB / BYTES_OF_A_CACHED_THREAD,
    );
  });

  it('is 100 at least and 10,000 at most', () => {
    expect(cachedThreadsFor({ available: GIB / 64, heapLimit: GIB / 64 })).toBe(100);
    expect(cachedThreadsFor({ available: 1024 * GIB, heapLimit: 1024 * GIB })).toBe(10_000);
  });

  it('is the value of EVERTHREAD_CACHED_THREADS, at least two', () => {
    expect(readConfiguration({ EVERTHREAD_CACHED_THREADS: '7' }).cachedThreads).toBe(7);
    expect(() => readConfiguration({ EVERTHREAD_CACHED_THREADS: '1' })).toThrow(
      expect.objectContaining({ code: 'InvalidConfiguration' }),
    );
  });
});

it('a thread evicted from the cache continues where it was', async () => {
  const threads = 5;
  const script = Array.from({ length: 2 * threads }, (_, index) => says(`answer ${index}`));
  const runtime = await testRuntime({
    model: scriptedModel(script),
    configuration: { cachedThreads: 2 },
  });
  const ids: string[] = [];
  for (let index = 0; index < threads; index++) ids.push(await runtime.start(`question ${index}`));
  for (const [index, id] of ids.entries()) {
    await runtime.say(id, 'and then?');
    expect(await runtime.transcript(id)).toEqual([
      `user: question ${index}`,
      `assistant: answer ${index}`,
      'user: and then?',
      `assistant: answer ${threads + index}`,
    ]);
  }
});
