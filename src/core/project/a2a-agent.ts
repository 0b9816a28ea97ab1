/**
 * Names of agents elsewhere, as tools. An author writes `a2a:<name>`; models are offered a name that every provider takes, and calls, rules and logs
 * have that one.
 */
export const A2A_PREFIX = 'a2a:';

/** As its file. */
const WRITTEN = /^a2a:([A-Za-z0-9_-]{1,48})$/;

/** Undefined for a name of another kind, and for none. */
export function parseA2aName(name: string): string | undefined {
  return WRITTEN.exec(name)?.[1];
}

/** The name that models call it by. */
export function a2aToolName(agent: string): string {
  return `a2a__${agent}`;
}

/** What a call of it needs to be allowed. */
export function a2aCapability(agent: string): string {
  return `a2a.${agent}`;
}
