/** What AgenticX's runtime page requires of compaction; ids are those of its acceptance cases. */
import type { Requirement } from './requirement.ts';

export const COMPACTION: readonly Requirement[] = [
  {
    id: 'AX-20',
    level: 'MUST',
    text: 'If there are more messages than the threshold, older ones are summarised and the newest are kept.',
  },
  {
    id: 'AX-21',
    level: 'MUST',
    text: 'If there are more characters than the threshold, older messages are summarised, provided there are more than those that are kept.',
  },
  { id: 'AX-22', level: 'MUST', text: 'Thresholds have minimums.' },
  {
    id: 'AX-23',
    level: 'MUST',
    text: 'If the summarising model fails or returns nothing, a bounded excerpt replaces the summary, and the turn continues.',
  },
  {
    id: 'AX-24',
    level: 'MUST',
    text: 'A compacted request has one tagged system row, then the kept messages unchanged.',
  },
  { id: 'AX-25', level: 'MUST', text: 'The next turn does not summarise the same messages again.' },
  { id: 'AX-26', level: 'MUST', text: 'Kept messages never start with a result whose call is missing.' },
  { id: 'AX-27', level: 'MUST', text: 'A compaction is reported with its count and its summary.' },
  { id: 'AX-28', level: 'MUST', text: 'A worker lost while it summarises leads to one summary.' },
];
