/**
 * Agents elsewhere that speak A2A, as untrusted sides (docs/a2a.md): who asks one is handed a value or an A2aFailure, whatever it does. A library of its
 * own.
 *
 *   reaching    `card`, where it is; `remote`, its requests, and `open`, which loads it; `request`, the time of one
 *   reading     `told`, what it tells; `result`, what has come of a task
 *   `limit` is what is taken at most, `failure` what can be wrong
 */
export { type A2aEndpoint, type Reach, readCard } from './card.ts';
export {
  type A2aCode,
  A2aFailure,
  isA2aFailure,
  isPassing,
  TASK_NOT_CANCELABLE,
  TASK_NOT_FOUND,
} from './failure.ts';
export { A2A_LIMITS } from './limit.ts';
export { openRemote } from './open.ts';
export type { A2aRemote, Outgoing, OutgoingPart } from './remote.ts';
export { toAnswer, toTaskResult } from './result.ts';
export { isOpen, isTerminal, type RemotePart, type RemoteTask, type Told, textOf } from './told.ts';
