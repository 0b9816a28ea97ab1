/**
 * How large the team of an agent may grow in a turn: subagents at work at once, subagents made in total, and levels of
 * threads below the agent. The limits hold for each member of the team: a subagent has the narrower of its own limits
 * and those that it was made under, one level less deep. Pure.
 */

import { type StatusGuard, toStatusGuard } from './status-query.ts';

export interface TeamGuard extends StatusGuard {
  readonly maxConcurrent: number;
  readonly maxChildren: number;
  readonly maxDepth: number;
}

type TeamLimits = Omit<TeamGuard, keyof StatusGuard>;

const DEFAULTS: TeamLimits = { maxConcurrent: 4, maxChildren: 5, maxDepth: 2 };
const NAMES = Object.keys(DEFAULTS) as (keyof TeamLimits)[];

const mapLimits = (limitOf: (name: keyof TeamLimits) => number) =>
  Object.fromEntries(NAMES.map((name) => [name, limitOf(name)])) as Record<keyof TeamLimits, number>;

/** Applies the defaults; each limit is at least one. */
export function toTeamGuard(given: Partial<TeamGuard>): TeamGuard {
  return { ...mapLimits((name) => Math.max(given[name] ?? DEFAULTS[name], 1)), ...toStatusGuard(given) };
}

/** The limits of a turn: the narrower of the agent's own and those handed down. */
export function narrowTeam(own: TeamGuard | undefined, handed: TeamGuard | undefined): TeamGuard | undefined {
  return own && handed
    ? { ...own, ...mapLimits((name) => Math.min(own[name], handed[name])) }
    : (own ?? handed);
}

/** The limits that a subagent is made under. */
export function toChildTeamGuard(limits: TeamGuard): TeamGuard {
  return { ...limits, maxDepth: limits.maxDepth - 1 };
}

/** The team of a turn when another subagent is to work. */
export interface TeamSize {
  readonly working: number;
  readonly made: number;
}

export type TeamLimit = 'max_concurrency_reached' | 'max_spawn_depth_reached' | 'max_children_reached';

/** Returns the first limit that forbids another child. For an existing child at rest (`speaks`) only the first applies. */
export function findTeamLimit(
  { maxConcurrent, maxDepth, maxChildren }: TeamLimits,
  { working, made }: TeamSize,
  { speaks = false } = {},
): TeamLimit | undefined {
  if (working >= maxConcurrent) return 'max_concurrency_reached';
  if (speaks) return undefined;
  if (maxDepth < 1) return 'max_spawn_depth_reached';
  return made >= maxChildren ? 'max_children_reached' : undefined;
}

/** Text for the model: what happened, and what to do instead. */
export function describeTeamLimit(code: TeamLimit, { maxConcurrent, maxChildren }: TeamLimits): string {
  return `${code}: ${REASONS[code]({ maxConcurrent, maxChildren })}`;
}

const describeSubagents = (count: number) => (count === 1 ? 'one subagent' : `${count} subagents`);

const REASONS: Readonly<
  Record<TeamLimit, (limits: Pick<TeamLimits, 'maxConcurrent' | 'maxChildren'>) => string>
> = {
  max_concurrency_reached: ({ maxConcurrent }) =>
    `${describeSubagents(maxConcurrent)} of yours may work at once, and that many are working (guards.team.maxConcurrent); wait for a report, then try again.`,
  max_spawn_depth_reached: () =>
    'you are at the maximum depth for subagents (guards.team.maxDepth); do this work yourself.',
  max_children_reached: ({ maxChildren }) =>
    `a turn of yours may create ${describeSubagents(maxChildren)} in total; the limit is reached (guards.team.maxChildren). Message one that you have, or do this work yourself.`,
};
