/** What AgenticX's runtime page requires of hooks; ids are those of its acceptance cases. */
import type { Requirement } from './requirement.ts';

export const HOOKS: readonly Requirement[] = [
  {
    id: 'AX-105',
    level: 'MUST',
    text: 'Hooks run by priority; those of the same in the order in which they are listed.',
  },
  { id: 'AX-106', level: 'MUST', text: 'The first hook that blocks a call ends the chain.' },
  {
    id: 'AX-107',
    level: 'MUST',
    text: 'What hooks make of a result is what the model reads, and what events tell.',
  },
  { id: 'AX-108', level: 'MUST', text: 'A hook that observes and throws ends nothing.' },
  { id: 'AX-109', level: 'MUST', text: 'A hook that guards and throws refuses the call.' },
  { id: 'AX-110', level: 'MUST', text: 'The hook at the end is told once of every ending, with its reason.' },
  { id: 'AX-111', level: 'MUST', text: 'What a hook adds to a request is not in the next one.' },
];
