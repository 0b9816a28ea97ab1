/**
 * Whether a worker polls a queue still, from when the Temporal server heard of it last. That time is of the server's clock, and
 * the one it is compared with another machine's.
 */

/** A poll lasts up to a minute; a poller not seen for longer is gone. */
const SEEN_WITHIN_MS = 70_000;
/** The server forgets pollers after five minutes: one that seems to be older, or of the future, is of another clock. */
const FORGOTTEN_AFTER_MS = 10 * 60_000;

/** Where the two clocks cannot be compared, who is remembered counts as there. */
export function isPolling(lastSeenMs: number, nowMs: number): boolean {
  const ago = nowMs - lastSeenMs;
  return ago <= SEEN_WITHIN_MS || ago > FORGOTTEN_AFTER_MS;
}
