/**
 * The side of the parent to which a child's messages go (runtime §4, §8.2): the side that has asked the child last, or
 * has created it. A parent with one AI side has only side A.
 */
import type { Side } from '../../core/author/thread-execution.ts';
import { findRow } from '../transaction/rows.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import type { ChildRow } from './child.ts';

export async function findAskingSide(parent: ThreadTransaction, child: ChildRow): Promise<Side> {
  const step = child.told_step ?? child.made_step ?? (await findRequestStep(parent, child));
  if (step === undefined) return 'a';
  const asked = await parent.find('steps', { step }, ['side']);
  return asked?.side ?? 'a';
}

/** The step of the call for which variables were missing: the child was created when they came. */
async function findRequestStep({ trx }: ThreadTransaction, child: ChildRow): Promise<number | undefined> {
  const request = await findRow(trx, 'variable_requests', { child_id: child.child_id }, ['step']);
  return request?.step;
}
