/** What AgenticX's page requires of teams: limits, and status queries; ids are those of its acceptance cases. */
import type { Requirement } from './requirement.ts';

export const TEAM: readonly Requirement[] = [
  {
    id: 'AX-68',
    level: 'MUST',
    text: 'A root thread asks for the status of its subagents as often as its turn may, and not too soon; subagents are not limited.',
  },
  {
    id: 'AX-120',
    level: 'MUST',
    text: 'A subagent that is not awaited is named at once and reports later; its turn tells that it starts, how it gets on, and that it is done or has failed.',
  },
  {
    id: 'AX-121',
    level: 'MUST',
    text: 'Each limit of a team refuses another subagent with its own code, exactly and for as long as the turn lasts.',
  },
];
