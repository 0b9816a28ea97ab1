/**
 * Decides whether a worker still polls a task queue, by the time at which the Temporal server last saw it. That time
 * comes from the server's clock and is compared with another machine's.
 */

/** A poll lasts up to a minute; a poller not seen for longer has gone. */
const SEEN_WITHIN_MS = 70_000;
/** The server forgets pollers after five minutes: an older time, or one in the future, means that the clocks disagree. */
const FORGOTTEN_AFTER_MS = 10 * 60_000;

/** If the clocks disagree, a listed poller counts as present. */
export function isPolling(lastSeenMs: number, nowMs: number): boolean {
  const ago = nowMs - lastSeenMs;
  return ago <= SEEN_WITHIN_MS || ago > FORGOTTEN_AFTER_MS;
}
