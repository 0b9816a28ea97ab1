/** What the Protolink runtime page requires of the budget of a run; ids are those of its acceptance cases. */
import type { Requirement } from './requirement.ts';

export const BUDGETS: readonly Requirement[] = [
  {
    id: 'PL-17',
    level: 'MUST',
    text: 'Each limit denies what would exceed it, where it is asked, by its name; what it denies is not done.',
  },
  { id: 'PL-18', level: 'MUST', text: 'Each limit warns once, when most of it is used.' },
  {
    id: 'PL-19',
    level: 'MUST',
    text: 'Every try at a model counts, the one that failed and was repeated too.',
  },
  { id: 'PL-20', level: 'MUST', text: 'A worker that is killed counts nothing twice and forgets nothing.' },
];
