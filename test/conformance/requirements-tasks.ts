/** What Tangle's agent-runtime page requires of manifests and tasks; ids are those of its acceptance cases. */
import type { Requirement } from './requirement.ts';

export const TASKS: readonly Requirement[] = [
  {
    id: 'TG-01',
    level: 'MUST',
    text: 'A manifest is validated when it is defined: all surfaces at once, and the weights of its rubric.',
  },
  { id: 'TG-02', level: 'MUST', text: 'The path of a subject resolves within its surface and nowhere else.' },
  {
    id: 'TG-03',
    level: 'MUST',
    text: 'A ready task observes, validates, decides and acts until it passes, with events in that order.',
  },
  {
    id: 'TG-04',
    level: 'MUST',
    text: 'A task whose blocking secret is missing is blocked, and no work is done.',
  },
  {
    id: 'TG-05',
    level: 'MUST',
    text: 'A question of a task occupies no process; the task continues with the answer and repeats nothing.',
  },
  { id: 'TG-06', level: 'MUST', text: 'A failed eval without a severity blocks the pass.' },
  {
    id: 'TG-07',
    level: 'MUST',
    text: 'A task ends at its budget of steps, cost or time, with the limit and an exact ledger.',
  },
  { id: 'TG-08', level: 'MUST', text: 'After a failed act a task continues or fails, as configured.' },
  { id: 'TG-09', level: 'MUST', text: 'A task that is aborted during an act ends once.' },
  { id: 'TG-10', level: 'MUST', text: 'The stream of a blocked task has its exact sequence.' },
  {
    id: 'TG-11',
    level: 'MUST',
    text: 'A task resumes the session of its backend, never one of another kind or one that does not exist.',
  },
  {
    id: 'TG-33',
    level: 'MUST',
    text: 'A task of a manifest requires its knowledge and is scored by its rubric, whatever its adapter is; a measurement goes on in the next process.',
  },
  {
    id: 'TG-31',
    level: 'MUST',
    text: 'A reviewer passes a good draft and fails a bad one with its reason.',
  },
];
