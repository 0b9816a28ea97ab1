/**
 * A self-contained client for agents elsewhere that speak A2A (docs/a2a.md). They are untrusted: whatever one does, the
 * caller receives a value or an A2aFailure.
 *
 *   requests    `card`, where an agent is reached; `remote`, the requests, and `open`, which loads it; `request`, one
 *               request's time limit
 *   answers     `told` parses them; `result` converts the outcome of a task into a tool result
 *   `limit` holds the upper bounds, `failure` the error codes
 */
export { type A2aEndpoint, type Reach, readCard } from './card.ts';
export {
  type A2aCode,
  A2aFailure,
  isA2aFailure,
  isTransient as isPassing,
  TASK_NOT_CANCELABLE,
  TASK_NOT_FOUND,
} from './failure.ts';
export { A2A_LIMITS } from './limit.ts';
export { openRemote } from './open.ts';
export type { A2aRemote, Outgoing, OutgoingPart } from './remote.ts';
export {
  isOpen,
  isTerminal,
  type RemotePart,
  type RemoteReply as Told,
  type RemoteTask,
  textOf,
} from './remote-reply.ts';
export { toAnswer, toTaskResult } from './result.ts';
