/**
 * What the isolate of a run holds, asked of the isolate's own thread. The code may keep that thread for ever; a busy machine is
 * only late with it, and a child whose memory is left untold is taken for spoilt and replaced, which costs far more than the wait.
 */
import type ivm from 'isolated-vm';
import { SANDBOX_LIMITS } from '../limits.ts';

/** Absent when the code keeps its thread busy after its result, or the isolate is gone. */
export async function readUsedMemory(
  isolate: Pick<ivm.Isolate, 'isDisposed' | 'getHeapStatistics'>,
): Promise<number | undefined> {
  if (isolate.isDisposed) return undefined;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    // Where this process itself was late, an answer that has come is read first.
    timer = setTimeout(() => setImmediate(() => resolve(undefined)), SANDBOX_LIMITS.stopGraceMs);
  });
  const read = isolate.getHeapStatistics().then(
    (heap) => heap.used_heap_size + heap.externally_allocated_size,
    () => undefined,
  );
  const bytes = await Promise.race([read, late]);
  clearTimeout(timer);
  return bytes;
}
