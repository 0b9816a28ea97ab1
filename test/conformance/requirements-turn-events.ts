/** What AgenticX's runtime page requires of the events of a turn; ids are those of its acceptance cases. */
import type { Requirement } from './requirement.ts';

export const TURN_EVENTS: readonly Requirement[] = [
  { id: 'AX-01', level: 'MUST', text: 'A turn that is one answer is a round and one final event.' },
  { id: 'AX-02', level: 'MUST', text: 'A call comes before its result, and the next round behind both.' },
  {
    id: 'AX-05',
    level: 'MUST',
    text: 'A turn that is stopped ends with an error that says so, and no final event.',
  },
  { id: 'AX-06', level: 'MUST', text: 'Every event has the id of its agent.' },
  {
    id: 'AX-66',
    level: 'MUST',
    text: 'What is asked comes before its answer, and that before the result of the call.',
  },
  { id: 'AX-81', level: 'MUST', text: 'Who comes late is told everything behind a cursor, each event once.' },
  { id: 'AX-82', level: 'MUST', text: 'One event of a turn is terminal, its last.' },
  {
    id: 'AX-83',
    level: 'MUST',
    text: 'Every eighth round of a subagent is told, with the tools that it has called.',
  },
  { id: 'AX-84', level: 'MUST', text: 'The types of events are the words of the page.' },
  { id: 'AX-90', level: 'MUST', text: 'A call that is confirmed runs, behind what was asked and answered.' },
];
