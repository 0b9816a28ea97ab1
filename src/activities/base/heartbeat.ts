/**
 * How often an activity says that its worker lives. Each time is an action that users of Temporal Cloud pay for, so it is no
 * oftener than what follows from it must be known.
 * H1. All but one of the heartbeats within a timeout may be lost or late before a worker counts as lost. The SDK's own pause is
 *     four fifths of the timeout: of one second, a delay of 200 ms would leave a living worker's tool with an unknown outcome.
 * H2. The answer to a heartbeat tells of a cancellation. So the pause bounds how long a stop takes where another worker runs
 *     the thread; on its own worker it arrives at once (worker/prompt-cancellations.ts).
 */
const HEARTBEATS_PER_TIMEOUT = 3;

export function heartbeatPauseMs(timeoutMs: number | undefined, stopWithinMs: number): number {
  // Early versions had activities without a timeout.
  return Math.min(Math.floor((timeoutMs ?? Number.POSITIVE_INFINITY) / HEARTBEATS_PER_TIMEOUT), stopWithinMs);
}
