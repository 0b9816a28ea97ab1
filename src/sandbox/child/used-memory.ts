/**
 * Reads how much memory the isolate of a run holds, on its own thread. User code may block that thread forever, so the
 * wait is limited; but a child without a figure is replaced, which costs far more than waiting for a busy machine.
 */
import type ivm from 'isolated-vm';
import { SANDBOX_LIMITS } from '../limits.ts';

/** Returns bytes; undefined if the code keeps its thread busy after its result, or if the isolate is gone. */
export async function readUsedMemory(
  isolate: Pick<ivm.Isolate, 'isDisposed' | 'getHeapStatistics'>,
): Promise<number | undefined> {
  if (isolate.isDisposed) return undefined;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    // If this process itself was late, an answer that has arrived is read first.
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
