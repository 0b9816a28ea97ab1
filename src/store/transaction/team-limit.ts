/**
 * How large the team of a thread may grow (core/guard/team.ts). The limits are kept in the thread's row when an
 * execution begins: changed definitions apply from the next one on. A thread without limits needs no query.
 * - A subagent begins to work only under its parent's lock, whether created or messaged: counts made there are exact.
 * - A subagent counts as working from its parent's message until the parent has its report, unless it was stopped and
 *   rests.
 */
import type { Selectable } from 'kysely';
import {
  describeTeamLimit,
  findTeamLimit,
  narrowTeam,
  type TeamGuard,
  toChildTeamGuard,
} from '../../core/guard/team.ts';
import type { ChildTable } from '../family/family-record.ts';
import type { ThreadRow, ThreadTransaction } from './thread-transaction.ts';

interface TeamState {
  /** The limits that the thread's parent has passed to it. */
  readonly handed?: TeamGuard;
  /** The limits of its newest execution; absent if it has had none. */
  readonly limits?: TeamGuard;
  /** The number of children that the thread had made when that execution began. */
  readonly from?: number;
}

export const readTeam = ({ team }: Pick<ThreadRow, 'team'>): TeamState =>
  team === null ? {} : (JSON.parse(team) as TeamState);

/** Stores the limits when an execution begins, or `handsOver` to another agent, whose limits hold from then on. */
export function pinTeam(
  thread: ThreadTransaction,
  own: TeamGuard | undefined,
  { handsOver = false } = {},
): void {
  const { handed, ...kept } = readTeam(thread.row);
  const limits = narrowTeam(own, handed);
  const from = (handsOver ? kept.from : undefined) ?? thread.row.child_count;
  const team = limits ? JSON.stringify({ handed, limits, from } satisfies TeamState) : null;
  if (team !== thread.row.team) thread.set({ team });
}

/** The `team` column of a child that the thread makes: the limits that the thread passes to it. */
export function toChildTeam({ row }: ThreadTransaction): string | null {
  const { limits } = readTeam(row);
  return limits ? JSON.stringify({ handed: toChildTeamGuard(limits) } satisfies TeamState) : null;
}

type Parent = Pick<ThreadTransaction, 'trx' | 'threadId'> & {
  readonly row: Pick<ThreadRow, 'team' | 'child_count'>;
};

/** Why no other subagent may begin to work, as a text for the model; `speaks`: the subagent exists already. */
export async function refuseTeam(
  parent: Parent,
  as: { readonly speaks?: boolean } = {},
): Promise<string | undefined> {
  const { limits, from = 0 } = readTeam(parent.row);
  if (!limits) return undefined;
  const { child_count: made } = parent.row;
  const working = made === 0 ? 0 : await countWorking(parent);
  const code = findTeamLimit(limits, { working, made: made - from }, as);
  return code && describeTeamLimit(code, limits);
}

/** True if a child counts as working. */
export function isAtWork(
  child: Pick<Selectable<ChildTable>, 'owes' | 'status'> | undefined,
  { row }: { readonly row: Pick<ThreadRow, 'status'> },
): boolean {
  return child?.owes === 1 && !(child.status === 'stopped' && row.status === 'stopped');
}

/** Counts the children for which `isAtWork` is true. */
async function countWorking({ trx, threadId }: Parent): Promise<number> {
  const { count } = await trx
    .selectFrom('children')
    .innerJoin('threads', 'threads.id', 'children.child_id')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('children.parent_id', '=', threadId)
    .where('children.terminated_at', 'is', null)
    .where('children.owes', '=', 1)
    .where((eb) =>
      eb.not(eb.and([eb('children.status', '=', 'stopped'), eb('threads.status', '=', 'stopped')])),
    )
    .executeTakeFirstOrThrow();
  return count;
}
