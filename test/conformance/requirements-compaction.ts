/** What AgenticX's runtime page requires of compaction; ids are those of its acceptance cases. */
import type { Requirement } from './requirement.ts';

export const COMPACTION: readonly Requirement[] = [
  {
    id: 'AX-20',
    level: 'MUST',
    text: 'More messages than the threshold are summarised, and the newest are kept.',
  },
  {
    id: 'AX-21',
    level: 'MUST',
    text: 'More characters than the threshold are, where there is more than what is kept.',
  },
  { id: 'AX-22', level: 'MUST', text: 'Thresholds have floors.' },
  {
    id: 'AX-23',
    level: 'MUST',
    text: 'Where the model that summarises fails or says nothing, a bounded snippet stands in, and the turn goes on.',
  },
  {
    id: 'AX-24',
    level: 'MUST',
    text: 'A request has one tagged row of the system, and what is kept as it is.',
  },
  { id: 'AX-25', level: 'MUST', text: 'The next turn does not summarise the same again.' },
  { id: 'AX-26', level: 'MUST', text: 'What is kept never begins with a result without its call.' },
  { id: 'AX-27', level: 'MUST', text: 'A compaction is told with its count and its summary.' },
  { id: 'AX-28', level: 'MUST', text: 'A worker that is lost while it summarises leads to one summary.' },
];
