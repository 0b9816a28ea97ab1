/**
 * How large the team of an agent may grow in a turn: subagents at work at once, those that the turn makes in all, and levels of threads below the agent.
 * A team's limits hold for each of its members: a subagent has the narrower of its own and of those that it was made under, one level less deep. Pure.
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

const over = (limitOf: (name: keyof TeamLimits) => number) =>
  Object.fromEntries(NAMES.map((name) => [name, limitOf(name)])) as Record<keyof TeamLimits, number>;

/** With the defaults, and at least one of each. */
export function toTeamGuard(given: Partial<TeamGuard>): TeamGuard {
  return { ...over((name) => Math.max(given[name] ?? DEFAULTS[name], 1)), ...toStatusGuard(given) };
}

/** The limits of a turn. */
export function narrowTeam(own: TeamGuard | undefined, handed: TeamGuard | undefined): TeamGuard | undefined {
  return own && handed ? { ...own, ...over((name) => Math.min(own[name], handed[name])) } : (own ?? handed);
}

/** What a subagent is made under. */
export function handTeam(limits: TeamGuard): TeamGuard {
  return { ...limits, maxDepth: limits.maxDepth - 1 };
}

/** What a turn has, as another subagent is to work. */
export interface TeamSize {
  readonly working: number;
  readonly made: number;
}

export type TeamLimit = 'max_concurrency_reached' | 'max_spawn_depth_reached' | 'max_children_reached';

/** The first limit that forbids another child. One that is there already, and at rest, is bound by the first alone (`speaks`). */
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

/** For the model: what has happened, and what to do instead. */
export function describeTeamLimit(code: TeamLimit, { maxConcurrent, maxChildren }: TeamLimits): string {
  return `${code}: ${REASONS[code]({ maxConcurrent, maxChildren })}`;
}

const some = (count: number) => (count === 1 ? 'one subagent' : `${count} subagents`);

const REASONS: Readonly<
  Record<TeamLimit, (limits: Pick<TeamLimits, 'maxConcurrent' | 'maxChildren'>) => string>
> = {
  max_concurrency_reached: ({ maxConcurrent }) =>
    `${some(maxConcurrent)} of yours may work at once, and as many do (guards.team.maxConcurrent); wait for a report, then try again.`,
  max_spawn_depth_reached: () =>
    'you are as deep below the first agent as subagents may be (guards.team.maxDepth); do this work yourself.',
  max_children_reached: ({ maxChildren }) =>
    `a turn of yours may make ${some(maxChildren)} in all, and has (guards.team.maxChildren); speak to one that you have, or do this work yourself.`,
};
