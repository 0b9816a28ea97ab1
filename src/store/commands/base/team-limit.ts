/**
 * How large the team of a thread may grow (core/guard/team.ts). Its limits are kept in the thread's row as an execution begins: other definitions hold from the
 * next one on. A thread without any is asked nothing.
 * T1. Another subagent begins to work under its parent's lock alone, whether it is made or told something: so what is counted under that lock is exact.
 * T2. A subagent is at work from what its parent tells it until the parent has its report, but for one that was stopped and rests.
 */
import type { Selectable } from 'kysely';
import {
  describeTeamLimit,
  findTeamLimit,
  handTeam,
  narrowTeam,
  type TeamGuard,
} from '../../../core/guard/team.ts';
import type { ChildTable } from '../../schema/family.ts';
import type { ThreadRow, ThreadTransaction } from './thread-transaction.ts';

interface KeptTeam {
  /** What it was made under. */
  readonly handed?: TeamGuard;
  /** Of its newest execution; absent where it has had none. */
  readonly limits?: TeamGuard;
  /** How many children the thread had made as that began. */
  readonly from?: number;
}

export const readTeam = ({ team }: Pick<ThreadRow, 'team'>): KeptTeam =>
  team === null ? {} : (JSON.parse(team) as KeptTeam);

/** An execution begins, or `handsOver` to another agent, whose limits hold from here on. */
export function pinTeam(
  thread: ThreadTransaction,
  own: TeamGuard | undefined,
  { handsOver = false } = {},
): void {
  const { handed, ...kept } = readTeam(thread.row);
  const limits = narrowTeam(own, handed);
  const from = (handsOver ? kept.from : undefined) ?? thread.row.child_count;
  const team = limits ? JSON.stringify({ handed, limits, from } satisfies KeptTeam) : null;
  if (team !== thread.row.team) thread.set({ team });
}

/** The row of a child that the thread makes: what it is made under. */
export function teamOfChild({ row }: ThreadTransaction): string | null {
  const { limits } = readTeam(row);
  return limits ? JSON.stringify({ handed: handTeam(limits) } satisfies KeptTeam) : null;
}

type Parent = Pick<ThreadTransaction, 'trx' | 'threadId'> & {
  readonly row: Pick<ThreadRow, 'team' | 'child_count'>;
};

/** T1. Why another subagent may not begin to work, for the model; `speaks`: one that is there already. */
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

/** T2: whether a child counts. */
export function isAtWork(
  child: Pick<Selectable<ChildTable>, 'owes' | 'status'> | undefined,
  { row }: { readonly row: Pick<ThreadRow, 'status'> },
): boolean {
  return child?.owes === 1 && !(child.status === 'stopped' && row.status === 'stopped');
}

/** T2: `isAtWork`, of all children. */
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
  return Number(count);
}
