/** What AgenticX's page requires against repeated calls and endless turns; ids are those of its acceptance cases. */
import type { Requirement } from './requirement.ts';

export const LOOPS: readonly Requirement[] = [
  { id: 'AX-03', level: 'MUST', text: 'A root thread that reaches its round limit fails.' },
  {
    id: 'AX-04',
    level: 'MUST',
    text: 'A subagent that reaches its round limit is paused and reports its progress.',
  },
  {
    id: 'AX-70',
    level: 'MUST',
    text: 'When the same call is repeated, the model is reminded after all results; then the execution ends with all of them stored.',
  },
  { id: 'AX-71', level: 'MUST', text: 'Two alternating calls are treated likewise.' },
  {
    id: 'AX-72',
    level: 'MUST',
    text: 'Calls without new results are treated likewise; a new result resets the count.',
  },
  { id: 'AX-73', level: 'MUST', text: 'The order of keys in arguments makes no difference.' },
  { id: 'AX-74', level: 'MUST', text: 'The thresholds can be configured, down to their minimums.' },
  { id: 'AX-75', level: 'MUST', text: 'A killed worker loses none of the counted calls.' },
  { id: 'AX-76', level: 'MUST', text: 'A new execution starts with empty counts.' },
  { id: 'AX-77', level: 'MUST', text: 'A refused call does not count.' },
  { id: 'AX-78', level: 'MUST', text: 'The most severe verdict applies; none hides another.' },
  {
    id: 'AX-100',
    level: 'MUST',
    text: 'The round limit has a default, and takes any maximum of one or more.',
  },
  { id: 'AX-101', level: 'MUST', text: 'A changed limit applies from the next execution on.' },
  {
    id: 'AX-122',
    level: 'MUST',
    text: 'A paused subagent is not completed: resumed, it continues from the same history and finishes.',
  },
];
