/** What AgenticX's page requires of teams: limits, and status queries; ids are those of its acceptance cases. */
import type { Requirement } from './requirement.ts';

export const TEAM: readonly Requirement[] = [
  {
    id: 'AX-68',
    level: 'MUST',
    text: 'Status calls of a root thread are limited per turn and in frequency; those of subagents are not.',
  },
  {
    id: 'AX-120',
    level: 'MUST',
    text: 'A subagent that is not awaited is named at once and reports later; its turn has events for start, progress, and completion or failure.',
  },
  {
    id: 'AX-121',
    level: 'MUST',
    text: 'Each team limit refuses another subagent with its own code, exactly and for the rest of the turn.',
  },
];
