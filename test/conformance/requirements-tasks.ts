/** What Tangle's agent-runtime page requires of manifests and tasks; ids are those of its acceptance cases. */
import type { Requirement } from './requirement.ts';

export const TASKS: readonly Requirement[] = [
  {
    id: 'TG-01',
    level: 'MUST',
    text: 'A manifest is checked as it is defined: all its surfaces at once, and the weights of its rubric.',
  },
  { id: 'TG-02', level: 'MUST', text: 'A subject of a surface leads nowhere but into that surface.' },
  {
    id: 'TG-03',
    level: 'MUST',
    text: 'A task that is ready observes, validates, decides and acts until it passes, and is told in that order.',
  },
  {
    id: 'TG-04',
    level: 'MUST',
    text: 'Where a blocking secret is missing a task is blocked, and nothing of it is done.',
  },
  {
    id: 'TG-05',
    level: 'MUST',
    text: 'What a task asks waits in no process; it goes on with the answer, and does nothing twice.',
  },
  { id: 'TG-06', level: 'MUST', text: 'An eval that fails without a severity lets nothing pass.' },
  {
    id: 'TG-07',
    level: 'MUST',
    text: 'A task ends by its budget of steps, cost or time, with the limit and an exact ledger.',
  },
  { id: 'TG-08', level: 'MUST', text: 'After an act that failed a task goes on or fails, as it says.' },
  { id: 'TG-09', level: 'MUST', text: 'A task that is aborted in the midst of an act ends once.' },
  { id: 'TG-10', level: 'MUST', text: 'The stream of a task that is blocked has its exact sequence.' },
  {
    id: 'TG-11',
    level: 'MUST',
    text: 'A task goes on with the session of its backend, and with none of another kind, or that there is not.',
  },
  {
    id: 'TG-31',
    level: 'MUST',
    text: 'A reviewer passes a good draft, and fails a bad one with its reason.',
  },
];
