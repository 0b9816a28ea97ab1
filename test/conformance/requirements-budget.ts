/** What the Protolink runtime page requires of the budget of a run; ids are those of its acceptance cases. */
import type { Requirement } from './requirement.ts';

export const BUDGETS: readonly Requirement[] = [
  {
    id: 'PL-17',
    level: 'MUST',
    text: 'Each limit denies, by name, the request that would exceed it; what is denied is not done.',
  },
  { id: 'PL-18', level: 'MUST', text: 'Each limit warns once, when most of it is used.' },
  {
    id: 'PL-19',
    level: 'MUST',
    text: 'Every model attempt counts, including one that failed and was retried.',
  },
  { id: 'PL-20', level: 'MUST', text: 'A killed worker leads to no double count and to no lost count.' },
];
