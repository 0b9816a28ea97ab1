/** Polls `check` until it returns a truthy value; throws after the deadline, naming what was waited for. */
export async function eventually<T>(
  what: string,
  check: () => Promise<T | undefined | false> | T | undefined | false,
  // Far longer than any machine needs: it bounds the wait for something that never happens.
  timeoutMs = 180_000,
  pauseMs = 20,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const value = await check();
    if (value) return value;
    if (performance.now() > deadline) throw new Error(`Not within ${timeoutMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
