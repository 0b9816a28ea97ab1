/**
 * The natural key of a workflow's command: its run, and the command's ordinal in that run. A command that is repeated,
 * because its answer or its worker was lost, is recognised by this key and returns the outcome of the first one.
 *
 * Finds a step that a workflow run does not know: its answer was lost, or the run was killed or reset.
 *
 * Decides which side acts in the step that begins (definitions §12.3, §22.40); the messages that it drains may still
 * change that.
 * - The workflow evaluates steps, so its session is the current one. The store's is used if the store is ahead: after
 *   a reset or a killed run, or if the last step has begun and has no answer.
 * - If a drained message is still unanswered, the side that answers it is already decided.
 */
import type { Transaction } from 'kysely';
import type { UnseenStep } from '../../core/thread/plan-step.ts';
import { NEW_SESSION, type Session } from '../../core/thread/session.ts';
import type { Tables } from '../schema/tables.ts';
import type { BeginStep } from '../step/step-record.ts';
import type { CommandContext } from './context.ts';
import type { FromRun } from './from-run.ts';
import { selectRow, selectRows } from './rows.ts';
import { OPEN_CALL } from './step-row.ts';
import type { ThreadRow, ThreadTransaction } from './thread-transaction.ts';

interface CommandKey {
  readonly runId: string;
  readonly ordinal: number;
}

interface CommandOutcome {
  readonly step: number | null;
  readonly swept: number;
}

/** Selects the outcome of the first command with this key; one row at most. */
export function selectOutcome(trx: Transaction<Tables>, threadId: string, { runId, ordinal }: CommandKey) {
  return selectRow(trx, 'command_keys', { thread_id: threadId, run_id: runId, ordinal });
}

export interface BegunOrdinals extends FromRun {
  readonly from: number;
  readonly upTo: number;
}

/** How many of the ordinals from `from` on have begun a step, `upTo` at most. */
export async function countBegunSteps(
  { db }: Pick<CommandContext, 'db'>,
  { threadId, runId, from, upTo }: BegunOrdinals,
): Promise<number> {
  const { last } = await selectRows(db, 'command_keys', { thread_id: threadId, run_id: runId })
    .where('ordinal', '>=', from)
    .where('ordinal', '<', from + upTo)
    .where('step', 'is not', null)
    .select((eb) => eb.fn.max('ordinal').as('last'))
    .executeTakeFirstOrThrow();
  return last === null ? 0 : Number(last) - from + 1;
}

export async function storeOutcome(
  thread: ThreadTransaction,
  { runId, ordinal }: CommandKey,
  { step, swept }: CommandOutcome,
): Promise<void> {
  await thread.insert('command_keys', { run_id: runId, ordinal, step, swept });
}

/**
 * Returns the first unfinished step that the workflow has not seen; else the thread's last step, if it is committed and
 * unseen. A finished step that another one follows was evaluated before that one began.
 */
export async function findUnknownStep(
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

/** True if the last step, sub-prompts' steps aside, has no answer. */
export async function hasUnanswered(thread: ThreadTransaction): Promise<boolean> {
  const last = await thread
    .select('steps')
    .select('state')
    .where('kind', '!=', 'prompt')
    .orderBy('step', 'desc')
    .limit(1)
    .executeTakeFirst();
  return last !== undefined && last.state !== 'committed';
}

export function beginSession(
  row: Pick<ThreadRow, 'side' | 'turns' | 'answer_due'>,
  { twoSides, session }: Pick<BeginStep, 'twoSides' | 'session'>,
  { behind }: { readonly behind: boolean },
): Session {
  if (!twoSides && !session) return NEW_SESSION;
  if (!session || behind) return { side: row.side, turns: row.turns };
  // The side that answers is decided; the number of turns is not.
  return row.answer_due === 1 ? { ...session, side: row.side } : session;
}

/** Stores the session in the thread's row, if it has changed. */
export function setSession(thread: ThreadTransaction, { side, turns }: Session): void {
  if (side !== thread.row.side || turns !== thread.row.turns) thread.set({ side, turns });
}
