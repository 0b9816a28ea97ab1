/**
 * What this thread does itself, in processor time: a busy machine takes the processor away for longer than any bound of
 * milliseconds, and that is no fault of the code. What the code waits for is told by the turns of the event loop.
 */

const TICK_MS = 5;

/** Processor time of this thread since `start`, in milliseconds. */
export function workSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(start);
  return (user + system) / 1000;
}

/** Watches how long this thread works without coming to its timers; `stop` answers the longest such time, in milliseconds. */
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
