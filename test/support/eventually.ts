/** Part of the time waited so far that a pause may take: what comes late is seen a little later, and asked for less. */
const PAUSE_SHARE = 0.05;
const LONGEST_PAUSE_MS = 100;

/**
 * Polls `check` until it returns a truthy value; throws after the deadline, naming what was waited for. Pauses begin
 * with `pauseMs`.
 */
export async function eventually<T>(
  what: string,
  check: () => Promise<T | undefined | false> | T | undefined | false,
  // Far longer than any machine needs: it bounds the wait for something that never happens.
  timeoutMs = 180_000,
  pauseMs = 20,
): Promise<T> {
  const start = performance.now();
  for (;;) {
    const value = await check();
    if (value) return value;
    const waited = performance.now() - start;
    if (waited > timeoutMs) throw new Error(`Not within ${timeoutMs} ms: ${what}`);
    const pause = Math.max(pauseMs, Math.min(waited * PAUSE_SHARE, LONGEST_PAUSE_MS));
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
