/**
 * What other layers may import of the supervisor: a process that keeps a worker process running. Its files:
 *
 *   `supervise`        the loop: start, ready, crash, restart (`backoff`, `slow-start`)
 *   `program-process`  one of our programs as a child process, with messages and a journal
 *   `protocol`         the messages between both processes
 *   `journal`          which units of author code the worker process is running, one line per begin or end
 *   `watch`            the phase and the crashes of the worker process, and queries to it
 *   `death`            derives a culprit, suspects, or neither from an exit and a journal
 */
export { readDeath } from './death.ts';
export { type Culprit, isUnit, JOURNAL_FD, type JournalLine, toLine, type Unit } from './journal.ts';
export {
  type ProgramEnd,
  type ProgramOptions,
  type ProgramProcess,
  startProgram,
} from './program-process.ts';
export type { Asked, FromWorker, ReportedDeath, ToWorker } from './protocol.ts';
export { type Supervision, type SupervisorNews, supervise } from './supervise.ts';
export { type Phase, SupervisorWatch } from './watch.ts';
