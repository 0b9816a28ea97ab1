/**
 * How often a model may query the status of its subagents: a number of times in an execution, with a minimum pause in
 * between. Reports arrive by themselves, so polling only adds cost. Applies to root threads only. Pure.
 */

export const STATUS_QUERY = 'query_subagent_status';

export interface StatusGuard {
  readonly statusBudget: number;
  readonly statusCooldownSeconds: number;
}

const DEFAULTS: StatusGuard = { statusBudget: 2, statusCooldownSeconds: 8 };

/** Applies the defaults; the budget is at least one. */
export function toStatusGuard({
  statusBudget = DEFAULTS.statusBudget,
  statusCooldownSeconds = DEFAULTS.statusCooldownSeconds,
}: Partial<StatusGuard> = {}): StatusGuard {
  return {
    statusBudget: Math.max(statusBudget, 1),
    statusCooldownSeconds: Math.max(statusCooldownSeconds, 0),
  };
}

/** Queries of the execution that were answered before the current one. */
export interface EarlierQueries {
  readonly count: number;
  /** Milliseconds since the newest one was answered; null if none was. */
  readonly sinceMs: number | null;
}

/** Returns the refusal of a query, for the model; undefined if the query is answered. */
export function refuseQuery(
  { statusBudget, statusCooldownSeconds }: StatusGuard,
  { count, sinceMs }: EarlierQueries,
): string | undefined {
  const wait =
    'Their reports are delivered to you automatically: continue with other work, or end your turn.';
  if (count >= statusBudget)
    return `status_query_budget: the status of subagents may be queried ${statusBudget === 1 ? 'once' : `${statusBudget} times`} per turn; the limit is reached. ${wait}`;
  const leftMs = sinceMs === null ? 0 : statusCooldownSeconds * 1000 - sinceMs;
  if (leftMs > 0)
    return `status_query_cooldown: the status of subagents was queried just now; it may be queried again in ${Math.ceil(leftMs / 1000)} s. ${wait}`;
  return undefined;
}

/** The state of one subagent, as a model reads it. */
export interface SubagentState {
  readonly agent_id: string;
  /** Name of its agent. */
  readonly role: string;
  readonly name?: string;
  readonly status:
    | 'running'
    | 'waiting'
    | 'paused'
    | 'completed'
    | 'failed'
    | 'stopped'
    | 'canceled'
    | 'terminated'
    | 'idle';
  /** The status text that it has set. */
  readonly text?: string;
}
