/**
 * Reads what a step is about to drain (definitions §9), for hooks, which run before its transaction. What arrives in
 * the meantime waits for the next step (`drain`).
 */
import type { Selectable, Transaction } from 'kysely';
import type { Side } from '../../core/author/thread-execution.ts';
import { selectDueItems } from '../../core/thread/execution-id.ts';
import type { QueueItem } from '../../core/thread/item.ts';
import { mustTakeOver } from '../../core/thread/plan-step.ts';
import { findAnswering, NO_STEPS } from '../../core/thread/session.ts';
import { budgetOf } from '../budget/account.ts';
import { toPendingDraft } from '../schema/pending-payload.ts';
import { toThreadRecord } from '../schema/rows.ts';
import type { ItemTable, Tables } from '../schema/tables.ts';
import { findLimitOf, judgeRounds } from '../step/limit.ts';
import type { PendingWork } from '../step/step-place-record.ts';
import { type CommandContext, inSnapshot, unknownThread } from '../transaction/context.ts';
import { findRow } from '../transaction/rows.ts';
import {
  type ContextPlace,
  composeContext,
  givenContext,
  type WithContext,
} from '../transaction/run-context.ts';
import { beginSession, findUnknownStep, selectOutcome } from '../transaction/run-recovery.ts';
import { countAnswered, countEnded, hasOutsideInput } from '../transaction/step-count.ts';
import { toCounts } from '../transaction/step-place.ts';
import type { ThreadRow } from '../transaction/thread-transaction.ts';
import { DRAIN_ROWS, findUsedIds, wishOf } from './drain.ts';
import type { ReadPending } from './message-record.ts';
import { toItemRow } from './queue.ts';

type Row = Pick<
  Selectable<ItemTable>,
  'id' | 'kind' | 'payload' | 'state' | 'position' | 'created_at' | 'own'
>;

/** `taken`: another message already has its id. */
type FoundRow = Row & { readonly taken: boolean };

/**
 * Returns what `steps.begin` with the same ordinal and items would drain now, for hooks. Rejects with
 * `ThreadNotFound`.
 */
export async function readPending(context: CommandContext, query: ReadPending): Promise<PendingWork> {
  return inSnapshot(context, async (db) => {
    const { threadId } = query;
    const thread = await findRow(db, 'threads', { id: threadId });
    if (!thread) throw unknownThread(context.storeId, threadId);
    // As in `beginStep`, which drains nothing in that case.
    const takesOver = mustTakeOver(
      await findUnknownStep(db, thread, query.afterStep),
      thread.turn_open === 1,
    );
    const drains =
      thread.terminated_at === null &&
      !takesOver &&
      !(await selectOutcome(db, threadId, query).executeTakeFirst());
    const { open, ...execution } = await readExecution(db, thread);
    const { executionId } = execution;
    const inLine = drains ? await findRows(db, query, context.now()) : [];
    const due = selectDueItems(
      inLine.map((row) => ({
        row,
        own: row.own,
        item: JSON.parse(row.payload) as { readonly executionId?: string },
      })),
      executionId !== null,
    );
    const found = due.map(({ row }) => row);
    const named = executionId === null ? due[0]?.item.executionId : undefined;
    const side = findSide(thread, query, found);
    const given = found.flatMap(({ taken, payload }) =>
      taken ? [] : (givenContext(JSON.parse(payload) as WithContext) ?? []),
    );
    return {
      thread: { ...toThreadRecord(thread), agent: thread.next_agent ?? thread.agent },
      greeted: thread.greeted === 1,
      rows: found.map((row) => ({ id: row.id, message: row.taken ? null : toPendingDraft(row, side) })),
      side,
      limited:
        budgetOf(thread)?.exceeded !== undefined ||
        (!takesOver && (await isLimited(db, query, { thread, found, executionId }))),
      ...execution,
      runContext: composeContext(thread, given, { executionId: named ?? query.executionId ?? '', open }),
      nextExecutionId: named,
    };
  });
}

/** The step's own items as `drain` puts them in line, then the rows that are in line already. */
async function findRows(db: Transaction<Tables>, query: ReadPending, now: number): Promise<FoundRow[]> {
  const { threadId, items } = query;
  const rows = db
    .selectFrom('items')
    .select(['id', 'kind', 'payload', 'state', 'position', 'created_at', 'own'])
    .where('thread_id', '=', threadId)
    .orderBy('position');
  const ids = [...new Set(items.map(({ id }) => id))];
  const known = ids.length > 0 ? await rows.where('id', 'in', ids).execute() : [];
  const queued = rows.where('state', '=', 'queued').limit(DRAIN_ROWS);
  const others = await (ids.length > 0 ? queued.where('id', 'not in', ids) : queued).execute();
  const inOrder = [...lineUp(query, known, now), ...others];
  const taken = await findUsedIds(
    db,
    threadId,
    inOrder.map(({ id }) => id),
  );
  return inOrder.map((row) => ({ ...row, taken: taken.has(row.id) }));
}

/** Decides like `drain`. */
function findSide(thread: ThreadRow, query: ReadPending, rows: readonly FoundRow[]): Side {
  const messages = rows.filter(({ kind, taken }) => kind === 'message' && !taken);
  const answering = query.twoSides
    ? findAnswering(messages.map((row) => toPendingDraft(row).role))
    : undefined;
  return answering ?? beginSession(thread, query, { behind: false }).side;
}

interface NextStep {
  readonly thread: ThreadRow;
  readonly found: readonly FoundRow[];
  /** Null if the step begins an execution. */
  readonly executionId: string | null;
}

/** Applies the limits like the step itself. */
async function isLimited(
  db: Transaction<Tables>,
  query: ReadPending,
  { thread, found, executionId }: NextStep,
): Promise<boolean> {
  const { limits, items, twoSides = false } = query;
  if (!limits) return false;
  const anew = executionId === null && (items.length > 0 || (await hasOutsideInput(db, thread.id)));
  const sideSteps = anew ? NO_STEPS : await countEnded(db, thread);
  const { side, turns } = beginSession(thread, query, { behind: false });
  const kinds = found.map((row) => ({ kind: row.kind, role: toPendingDraft(row).role }));
  const input = wishOf(kinds, twoSides);
  const asked = { thread, input, side: input.answering ?? side, sideSteps, turns };
  if (findLimitOf(limits, asked)) return true;
  if (executionId === null) return false;
  const rows = found.map((row) => ({ ...row, item: toPendingDraft(row) }));
  return (
    (await judgeRounds({ trx: db, row: thread }, { ...asked, input: { ...input, rows }, executionId })) !==
    undefined
  );
}

/** Queued rows keep their positions; content that was staged replaces that of the item. */
function lineUp({ threadId, items }: ReadPending, known: readonly Row[], now: number): Row[] {
  const rows = new Map(known.map((row) => [row.id, row]));
  const inLine = known.filter(({ state }) => state === 'queued');
  for (const item of items) {
    const row = rows.get(item.id) ?? toRow(threadId, item, now);
    if (row?.state !== 'staged') continue;
    rows.set(item.id, { ...row, state: 'queued' });
    inLine.push(row);
  }
  return inLine;
}

/** Undefined for an item that only names its content, if that is not staged. */
function toRow(threadId: string, item: QueueItem, now: number): Row | undefined {
  if (item.kind === 'stored') return undefined;
  return { ...toItemRow(threadId, item, now), state: 'staged', position: null };
}

interface Execution extends Pick<PendingWork, 'executionId' | 'stepCount' | 'sideSteps' | 'scratch'> {
  readonly open: ContextPlace['open'];
}

async function readExecution(db: Transaction<Tables>, thread: ThreadRow): Promise<Execution> {
  const open = await findRow(db, 'executions', { thread_id: thread.id, ended_at: null }, [
    'id',
    'context',
    'run_context',
  ]);
  if (!open) return { open, executionId: null, ...toCounts(NO_STEPS), scratch: {} };
  return {
    open,
    executionId: open.id,
    ...toCounts(await countAnswered(db, thread)),
    scratch: open.context ? JSON.parse(open.context) : {},
  };
}
