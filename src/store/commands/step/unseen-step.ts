/** A step that the store has and a workflow run does not know of: its answer was lost, or the run was killed or reset. */
import type { StepRow } from '../base/step-row.ts';
import type { ThreadTransaction } from '../base/thread-transaction.ts';

export interface UnseenStep {
  readonly row: StepRow;
  readonly settled: boolean;
}

/** As the plan of a step asks for it. */
export function toSeen(unseen: UnseenStep | undefined) {
  return unseen && { step: unseen.row.step, settled: unseen.settled };
}

/** The first unfinished step that the workflow has not seen, else the last one it has not seen. */
export async function findUnseen(
  thread: ThreadTransaction,
  afterStep: number,
): Promise<UnseenStep | undefined> {
  if (thread.row.last_step <= afterStep) return undefined;
  const rows = await thread.trx
    .selectFrom('steps')
    .selectAll()
    .where('thread_id', '=', thread.threadId)
    .where('step', '>', afterStep)
    // Steps of sub-prompts are left out (begin-step.ts, B4).
    .where('kind', '!=', 'prompt')
    .orderBy('step')
    .execute();
  const committed = rows.filter((row) => row.state === 'committed');
  const last = committed.at(-1);
  if (!last) return undefined;
  const unsettled = await thread.trx
    .selectFrom('tool_calls')
    .select('step')
    .where('thread_id', '=', thread.threadId)
    .where('step', '>', afterStep)
    .where('state', 'in', ['scheduled', 'started'])
    // A sub-prompt's step comes after the one whose call it answers, and that call is open as long as its own.
    .orderBy('step')
    .executeTakeFirst();
  const unfinished = committed.find((row) => row.step === unsettled?.step);
  if (unfinished) return { row: unfinished, settled: false };
  return { row: last, settled: true };
}
