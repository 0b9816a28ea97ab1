/** What the Protolink page requires of events, reports and lists of runs; ids are those of its acceptance cases. */
import type { Requirement } from './requirement.ts';

export const RUNS: readonly Requirement[] = [
  {
    id: 'PL-21',
    level: 'MUST',
    text: 'A run is one stream of events in one order; the last event is final.',
  },
  { id: 'PL-22', level: 'MUST', text: 'A sink or trace that fails or is slow never affects a run.' },
  {
    id: 'PL-23',
    level: 'MUST',
    text: 'A report is redacted before it is exported, replays the run, and supports assertions.',
  },
  { id: 'PL-24', level: 'MUST', text: 'Runs are listed by session, run, state and agent, newest first.' },
  {
    id: 'PL-27',
    level: 'MUST',
    text: 'A reader that was disconnected resumes at its cursor: each row once, while the run continues.',
  },
  {
    id: 'PL-28',
    level: 'MUST',
    text: 'If a context, a policy or a budget is in use, each model request is announced before it is sent, with estimated tokens by section.',
  },
  {
    id: 'PL-29',
    level: 'MUST',
    text: "The sections of a manifest add up to its total, which is what a budget reserves; it is shown beside the provider's own count.",
  },
  {
    id: 'PL-30',
    level: 'MUST',
    text: 'A model with a profile can be asked a single question without a thread: announced with its manifest, within its budget, and recorded.',
  },
  {
    id: 'PL-31',
    level: 'MUST',
    text: 'A call without a model that fails, is refused or has an unknown outcome fails its task, and is raised with its reason.',
  },
  {
    id: 'PL-32',
    level: 'MUST',
    text: 'A task is taken up by its id in another process, whose approval handler is asked what is open: nothing is done twice, and the answer is the same.',
  },
];
