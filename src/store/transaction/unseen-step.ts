/** Finds a step that a workflow run does not know: its answer was lost, or the run was killed or reset. */
import type { Transaction } from 'kysely';
import type { UnseenStep } from '../../core/thread/plan-step.ts';
import type { Tables } from '../schema/tables.ts';
import { OPEN_CALL } from './call-row.ts';
import type { ThreadRow } from './thread-transaction.ts';

/**
 * Returns the first unfinished step that the workflow has not seen; else the thread's last step, if it is committed and
 * unseen. A finished step that another one follows was evaluated before that one began.
 */
export async function findUnseen(
  db: Transaction<Tables>,
  { id, last_step: lastStep }: Pick<ThreadRow, 'id' | 'last_step'>,
  afterStep: number,
): Promise<UnseenStep | undefined> {
  if (lastStep <= afterStep) return undefined;
  const rows = await db
    .selectFrom('steps')
    .select(['step', 'state'])
    .where('thread_id', '=', id)
    .where('step', '>', afterStep)
    // Steps of sub-prompts are left out (step/begin-step.ts, B4).
    .where('kind', '!=', 'prompt')
    .orderBy('step')
    .execute();
  const committed = rows.filter(({ state }) => state === 'committed');
  if (committed.length === 0) return undefined;
  const unsettled = await db
    .selectFrom('tool_calls')
    .select('step')
    .where('thread_id', '=', id)
    .where('step', '>', afterStep)
    .where('state', 'in', OPEN_CALL)
    // A sub-prompt's step follows the step whose call it answers; that call is open as long as the sub-prompt's own
    // calls are.
    .orderBy('step')
    .executeTakeFirst();
  const unfinished = committed.find(({ step }) => step === unsettled?.step);
  if (unfinished) return { step: unfinished.step, settled: false };
  const last = rows.at(-1);
  return last?.state === 'committed' ? { step: last.step, settled: true } : undefined;
}
