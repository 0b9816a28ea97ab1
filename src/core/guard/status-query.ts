/**
 * How often a model may ask for the status of its subagents: so many times in an execution, and not before some time has passed since it did. Reports come by
 * themselves, so that a model which asks again and again only spends. Of root threads alone. Pure.
 */

export const STATUS_QUERY = 'query_subagent_status';

export interface StatusGuard {
  readonly statusBudget: number;
  readonly statusCooldownSeconds: number;
}

const DEFAULTS: StatusGuard = { statusBudget: 2, statusCooldownSeconds: 8 };

/** With the defaults; a budget of one at least. */
export function toStatusGuard({
  statusBudget = DEFAULTS.statusBudget,
  statusCooldownSeconds = DEFAULTS.statusCooldownSeconds,
}: Partial<StatusGuard> = {}): StatusGuard {
  return {
    statusBudget: Math.max(statusBudget, 1),
    statusCooldownSeconds: Math.max(statusCooldownSeconds, 0),
  };
}

/** Queries of the execution that were answered before this one. */
export interface EarlierQueries {
  readonly count: number;
  /** Since the newest one was answered; null where none was. */
  readonly sinceMs: number | null;
}

/** Why this one is not answered, for the model; undefined where it is. */
export function refuseQuery(
  { statusBudget, statusCooldownSeconds }: StatusGuard,
  { count, sinceMs }: EarlierQueries,
): string | undefined {
  const wait = 'Their reports come to you by themselves: go on with other work, or end your turn.';
  if (count >= statusBudget)
    return `status_query_budget: the status of subagents may be asked ${statusBudget === 1 ? 'once' : `${statusBudget} times`} in a turn, and was. ${wait}`;
  const leftMs = sinceMs === null ? 0 : statusCooldownSeconds * 1000 - sinceMs;
  if (leftMs > 0)
    return `status_query_cooldown: the status of subagents was asked just now; it may be asked again in ${Math.ceil(leftMs / 1000)} s. ${wait}`;
  return undefined;
}

/** What a model reads of one of its subagents. */
export interface SubagentState {
  readonly agent_id: string;
  /** Its agent. */
  readonly role: string;
  readonly name?: string;
  readonly status:
    | 'running'
    | 'waiting'
    | 'paused'
    | 'completed'
    | 'failed'
    | 'stopped'
    | 'terminated'
    | 'idle';
  /** What it says of itself. */
  readonly text?: string;
}
