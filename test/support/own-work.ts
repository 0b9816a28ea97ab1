/**
 * Measures the work of this thread in processor time: a busy machine can take the processor away for longer than any
 * bound in milliseconds, which is no fault of the code. What the code waits for shows in the turns of the event loop.
 */

const TICK_MS = 5;

/** Processor time of this thread since `start`, in milliseconds. */
export function workSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(start);
  return (user + system) / 1000;
}

/**
 * Measures how long this thread works without running its timers; `stop` returns the longest such time, in
 * milliseconds.
 */
export function watchTurns(): { stop(): number } {
  let longest = 0;
  let before = process.threadCpuUsage();
  const tick = () => {
    longest = Math.max(longest, workSince(before));
    before = process.threadCpuUsage();
  };
  const timer = setInterval(tick, TICK_MS);
  return {
    stop() {
      clearInterval(timer);
      tick();
      return longest;
    },
  };
}
