/**
 * The interval of an activity's heartbeats. Temporal Cloud bills each one as an action, so they are only as frequent as
 * these rules require.
 * H1. A worker counts as lost only if all heartbeats within a timeout are lost or late. The SDK's own interval is four
 *     fifths of the timeout: with a timeout of one second, a delay of 200 ms would leave the tool of a living worker
 *     with an unknown outcome.
 * H2. The response to a heartbeat reports a cancellation. So the interval bounds how long a stop takes if another
 *     worker runs the thread; on the thread's own worker it arrives at once (worker/prompt-cancellations.ts).
 */
const HEARTBEATS_PER_TIMEOUT = 3;

export function heartbeatPauseMs(timeoutMs: number | undefined, stopWithinMs: number): number {
  return Math.min(Math.floor((timeoutMs ?? Number.POSITIVE_INFINITY) / HEARTBEATS_PER_TIMEOUT), stopWithinMs);
}
