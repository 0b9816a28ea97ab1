/**
 * What other layers may import of the supervisor: a process that keeps a worker process running. Its files:
 *
 *   `supervise`        the loop: start, ready, fell, start again (`backoff`, `slow-start`)
 *   `program-process`  a program of ours as a child process, with messages and a journal
 *   `protocol`         the messages between both processes
 *   `journal`          which units of author code the worker process runs, line by line
 *   `watch`            what is known of the process for whoever watches it, and how it is asked
 *   `death`            from an exit and a journal to a culprit, suspects, or neither
 */
export { readDeath } from './death.ts';
export { type Culprit, isUnit, JOURNAL_FD, type JournalLine, toLine, type Unit } from './journal.ts';
export {
  type ProgramEnd,
  type ProgramOptions,
  type ProgramProcess,
  startProgram,
} from './program-process.ts';
export type { Asked, FromWorker, ToldDeath, ToWorker } from './protocol.ts';
export { type Supervision, type SupervisorNews, supervise } from './supervise.ts';
export { type Phase, SupervisorWatch } from './watch.ts';
