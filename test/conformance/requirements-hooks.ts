/** What AgenticX's runtime page requires of hooks; ids are those of its acceptance cases. */
import type { Requirement } from './requirement.ts';

export const HOOKS: readonly Requirement[] = [
  {
    id: 'AX-105',
    level: 'MUST',
    text: 'Hooks run by priority; those with the same priority run in list order.',
  },
  { id: 'AX-106', level: 'MUST', text: 'The first hook that blocks a call ends the chain.' },
  {
    id: 'AX-107',
    level: 'MUST',
    text: 'The model reads, and events show, the result as hooks changed it.',
  },
  { id: 'AX-108', level: 'MUST', text: 'An exception in an observing hook ends nothing.' },
  { id: 'AX-109', level: 'MUST', text: 'An exception in a guarding hook refuses the call.' },
  { id: 'AX-110', level: 'MUST', text: 'The end hook runs once for every kind of ending, with its reason.' },
  { id: 'AX-111', level: 'MUST', text: 'What a hook adds to a request is not in the next one.' },
];
