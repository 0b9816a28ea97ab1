/** What AgenticX's page requires against repeated calls and endless turns; ids are those of its acceptance cases. */
import type { Requirement } from './requirement.ts';

export const LOOPS: readonly Requirement[] = [
  { id: 'AX-03', level: 'MUST', text: 'A root thread that has used up its rounds has failed.' },
  {
    id: 'AX-04',
    level: 'MUST',
    text: 'A subagent that has used up its rounds is paused, and says how far it is.',
  },
  {
    id: 'AX-70',
    level: 'MUST',
    text: 'The same call again and again: the model is reminded behind all results, and then the execution ends with all of them kept.',
  },
  { id: 'AX-71', level: 'MUST', text: 'So do two calls in turn.' },
  {
    id: 'AX-72',
    level: 'MUST',
    text: 'So do calls that bring nothing new; one that does begins the count anew.',
  },
  { id: 'AX-73', level: 'MUST', text: 'The order of the keys of arguments makes no difference.' },
  { id: 'AX-74', level: 'MUST', text: 'The thresholds can be set, down to their floors.' },
  { id: 'AX-75', level: 'MUST', text: 'A worker that is killed forgets none of the calls.' },
  { id: 'AX-76', level: 'MUST', text: 'A new execution starts clean.' },
  { id: 'AX-77', level: 'MUST', text: 'A call that was refused does not count.' },
  { id: 'AX-78', level: 'MUST', text: 'The worst verdict counts; none hides another.' },
  { id: 'AX-100', level: 'MUST', text: 'The limit of rounds has a default and bounds.' },
  { id: 'AX-101', level: 'MUST', text: 'A limit that changes holds from the next execution on.' },
  {
    id: 'AX-122',
    level: 'MUST',
    text: 'A paused subagent is not completed: it is let go, goes on from the same history and finishes.',
  },
];
