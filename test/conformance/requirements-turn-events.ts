/** What AgenticX's runtime page requires of the events of a turn; ids are those of its acceptance cases. */
import type { Requirement } from './requirement.ts';

export const TURN_EVENTS: readonly Requirement[] = [
  { id: 'AX-01', level: 'MUST', text: 'A turn with a single answer has one round and one final event.' },
  { id: 'AX-02', level: 'MUST', text: 'A call precedes its result, and the next round follows both.' },
  {
    id: 'AX-05',
    level: 'MUST',
    text: 'A stopped turn ends with an error event that says so, and no final event.',
  },
  { id: 'AX-06', level: 'MUST', text: 'Every event has the id of its agent.' },
  {
    id: 'AX-66',
    level: 'MUST',
    text: 'A question precedes its answer, and the answer precedes the result of the call.',
  },
  { id: 'AX-81', level: 'MUST', text: 'A late reader gets everything after its cursor, each event once.' },
  { id: 'AX-82', level: 'MUST', text: 'The last event of a turn is its only terminal one.' },
  {
    id: 'AX-83',
    level: 'MUST',
    text: 'Every eighth round of a subagent is reported, with the tools that it called.',
  },
  { id: 'AX-84', level: 'MUST', text: 'Event types have the names of the page.' },
  { id: 'AX-90', level: 'MUST', text: 'A confirmed call runs after its question and answer events.' },
];
