/**
 * Checks whether another child may be created (runtime §7.2): the limits of its agent, of this parent, of the team, and
 * of depth. Checked before variables are requested, and again in the transaction that creates the child.
 */
import { LIMITS } from '../../core/value/limit.ts';
import { type CommandContext, inSnapshot, unknownThread } from '../transaction/context.ts';
import { findRow, selectRows } from '../transaction/rows.ts';
import { refuseTeam } from '../transaction/team-limit.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import { toChildRecord } from './child.ts';
import type { ChildLimit, LimitedChild } from './child-record.ts';

/** The limit for which `create` would be refused now; null if there is none. */
export async function judgeChild(
  context: CommandContext,
  parentId: string,
  child: LimitedChild,
): Promise<ChildLimit | null> {
  return inSnapshot(context, async (trx) => {
    const row = await findRow(trx, 'threads', { id: parentId });
    if (!row) throw unknownThread(context.storeId, parentId);
    return (await findLimit({ trx, threadId: parentId, row }, child)) ?? null;
  });
}

type Parent = Pick<ThreadTransaction, 'trx' | 'threadId' | 'row'>;

export async function findLimit(parent: Parent, child: LimitedChild): Promise<ChildLimit | undefined> {
  return (await refuseFull(parent, child)) ?? (await refuseLarge(parent)) ?? (await refuseDeep(parent));
}

async function refuseFull(
  { trx, threadId, row }: Parent,
  { agent, maxInstances }: LimitedChild,
): Promise<ChildLimit | undefined> {
  if (row.child_count === 0 && maxInstances !== 0) return undefined;
  const living = selectRows(trx, 'children', { parent_id: threadId, terminated_at: null });
  if (maxInstances !== undefined) {
    const same = await living
      .selectAll()
      .where('agent', '=', agent)
      .orderBy('created_at')
      .orderBy('child_id')
      .execute();
    if (same.length >= maxInstances)
      return { kind: 'full', limit: maxInstances, living: same.map(toChildRecord) };
  }
  const { count } = await living
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  if (count < LIMITS.childrenPerThread) return undefined;
  const reason = `Thread "${threadId}" has ${LIMITS.childrenPerThread} living subagents, which is the limit; message one of them, or terminate some first.`;
  return { kind: 'refused', reason };
}

async function refuseLarge(parent: Parent): Promise<ChildLimit | undefined> {
  const reason = await refuseTeam(parent);
  return reason === undefined ? undefined : { kind: 'refused', reason };
}

async function refuseDeep({ trx, row }: Parent): Promise<ChildLimit | undefined> {
  let above = row.parent_id;
  for (let depth = 1; above !== null; depth++) {
    if (depth >= LIMITS.threadDepth) {
      const reason = `Thread "${row.id}" is ${LIMITS.threadDepth} threads below its root, which is the limit; do this work in the thread itself.`;
      return { kind: 'refused', reason };
    }
    const next = await findRow(trx, 'threads', { id: above }, ['parent_id']);
    above = next?.parent_id ?? null;
  }
  return undefined;
}
