/**
 * Reads what a step is about to drain (definitions §9), for hooks, which run before its transaction. What arrives in
 * the meantime waits for the next step (`drain`).
 */
import type { Selectable, Transaction } from 'kysely';
import type { Side } from '../../core/author/thread-execution.ts';
import { selectDueItems } from '../../core/thread/execution-id.ts';
import { mustTakeOver } from '../../core/thread/plan-step.ts';
import { NO_STEPS } from '../../core/thread/session.ts';
import { budgetOf } from '../budget/account.ts';
import { readItem, toItemMessage, toItemRow } from '../schema/item-row.ts';
import { toThreadRecord } from '../schema/rows.ts';
import type { ItemTable, Tables } from '../schema/tables.ts';
import { findLimitOf, judgeRounds } from '../step/limit.ts';
import type { PendingWork } from '../step/step-place-record.ts';
import { type CommandContext, inSnapshot, unknownThread } from '../transaction/context.ts';
import { findRow } from '../transaction/rows.ts';
import { type ContextPlace, composeContext, givenContext } from '../transaction/run-context.ts';
import { beginSession, findUnknownStep, selectOutcome } from '../transaction/run-recovery.ts';
import { countAnswered, countEnded, hasOutsideInput } from '../transaction/step-count.ts';
import { toCounts } from '../transaction/step-place.ts';
import type { ThreadRow } from '../transaction/thread-transaction.ts';
import { DRAIN_ROWS, type DueRow, findUsedIds, namedExecution, wishOf } from './drain.ts';
import type { ReadPending } from './message-record.ts';

type Row = Pick<
  Selectable<ItemTable>,
  'id' | 'kind' | 'payload' | 'state' | 'position' | 'created_at' | 'own'
>;

interface FoundRow extends DueRow {
  readonly created_at: number;
  /** Another message already has its id. */
  readonly taken: boolean;
}

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
    const found = selectDueItems(inLine, executionId !== null);
    const named = executionId === null ? namedExecution(found) : undefined;
    const side = findSide(thread, query, found);
    const given = found.flatMap(({ taken, item }) => (taken ? [] : (givenContext(item) ?? [])));
    return {
      thread: { ...toThreadRecord(thread), agent: thread.next_agent ?? thread.agent },
      greeted: thread.greeted === 1,
      rows: found.map(({ item, created_at, taken }) => ({
        id: item.id,
        message: taken ? null : { ...toItemMessage(item, side), created_at },
        files: item.attachments ?? [],
      })),
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
  const used = await findUsedIds(
    db,
    threadId,
    inOrder.map(({ id }) => id),
  );
  return inOrder.map((row) => ({
    own: row.own,
    created_at: row.created_at,
    item: readItem(row),
    taken: used.has(row.id),
  }));
}

/** Decides like `drain`. */
function findSide(thread: ThreadRow, query: ReadPending, rows: readonly FoundRow[]): Side {
  const fresh = rows.filter(({ taken }) => !taken);
  const { answering } = wishOf(fresh, query.twoSides === true);
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
  const { rules, items, twoSides = false } = query;
  if (!rules) return false;
  const anew = executionId === null && (items.length > 0 || (await hasOutsideInput(db, thread.id)));
  const sideSteps = anew ? NO_STEPS : await countEnded(db, thread);
  const { side, turns } = beginSession(thread, query, { behind: false });
  const input = wishOf(found, twoSides);
  const asked = { thread, input, side: input.answering ?? side, sideSteps, turns };
  if (findLimitOf(rules, asked)) return true;
  if (executionId === null) return false;
  const judged = { ...asked, input: { ...input, rows: found }, executionId };
  return (await judgeRounds({ trx: db, row: thread }, judged)) !== undefined;
}

/** Queued rows keep their positions; content that was staged replaces that of the item. */
function lineUp({ threadId, items }: ReadPending, known: readonly Row[], now: number): Row[] {
  const rows = new Map<string, Row>(known.map((row) => [row.id, row]));
  const inLine = known.filter(({ state }) => state === 'queued');
  for (const item of items) {
    // An item that only names its content, which is not staged, is left out.
    const row =
      rows.get(item.id) ??
      (item.kind === 'stored'
        ? undefined
        : { ...toItemRow(threadId, item, now), state: 'staged', position: null });
    if (row?.state !== 'staged') continue;
    rows.set(item.id, { ...row, state: 'queued' });
    inLine.push(row);
  }
  return inLine;
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
