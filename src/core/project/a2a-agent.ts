/**
 * Tool names of agents elsewhere. An author writes `a2a:<name>`; models, calls, rules and logs use a name that every
 * provider accepts.
 */
export const A2A_PREFIX = 'a2a:';

/** The part after the prefix is the name of the agent's file. */
const NAME_PATTERN = /^a2a:([A-Za-z0-9_-]{1,48})$/;

/** Returns the name of the agent; undefined if `name` is invalid or of another kind. */
export function parseA2aName(name: string): string | undefined {
  return NAME_PATTERN.exec(name)?.[1];
}

/** The tool name that models are offered. */
export function a2aToolName(agent: string): string {
  return `a2a__${agent}`;
}

/** The capability that a call of the agent requires. */
export function a2aCapability(agent: string): string {
  return `a2a.${agent}`;
}
