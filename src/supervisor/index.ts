/** The layer's door: a process that keeps a worker process, and what both know of one another. */
export { readDeath } from './death.ts';
export { type Culprit, isUnit, JOURNAL_FD, type JournalLine, toLine, type Unit } from './journal.ts';
export { type ProgramEnd, type ProgramProcess, startProgram } from './program-process.ts';
export type { FromWorker, ToldDeath, ToWorker } from './protocol.ts';
export { type Supervision, type SupervisorNews, supervise } from './supervise.ts';
