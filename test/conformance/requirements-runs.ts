/** What the Protolink page requires of events, reports and lists of runs; ids are those of its acceptance cases. */
import type { Requirement } from './requirement.ts';

export const RUNS: readonly Requirement[] = [
  {
    id: 'PL-21',
    level: 'MUST',
    text: 'A run is told as one stream of events in one order, the last of them final.',
  },
  { id: 'PL-22', level: 'MUST', text: 'A sink or trace that fails or is slow never changes a run.' },
  {
    id: 'PL-23',
    level: 'MUST',
    text: 'A report is redacted before it leaves, replays as the run was, and can be asserted upon.',
  },
  { id: 'PL-24', level: 'MUST', text: 'Runs are listed by session, run, state and agent, the newest first.' },
  {
    id: 'PL-27',
    level: 'MUST',
    text: 'A reader that was cut off reads on from where it was: each row once, and the run goes on meanwhile.',
  },
  {
    id: 'PL-28',
    level: 'MUST',
    text: 'Where a context, a policy or a budget is in use, each request to a model is told of before it is sent, its tokens estimated by section.',
  },
  {
    id: 'PL-29',
    level: 'MUST',
    text: 'The sections of a manifest add up to its total, which is what a budget reserves; it stands beside what the provider has counted.',
  },
  {
    id: 'PL-30',
    level: 'MUST',
    text: 'A model with a profile is asked a single question without a standing thread: announced with its manifest, within its budget, and on record.',
  },
];
