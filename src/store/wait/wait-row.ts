/** Rows of waits: found, converted to records, and ended. */
import type { Kysely, Selectable } from 'kysely';
import type { WaitAnswer } from '../../core/wait/answer.ts';
import { findChangedArguments } from '../../core/wait/changed-arguments.ts';
import { isWaitExpired } from '../../core/wait/wait.ts';
import type { Tables } from '../schema/tables.ts';
import { findRow } from '../transaction/rows.ts';
import { type CallRow, updateCall } from '../transaction/step-row.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import { showHeldUp, showOver } from '../transaction/waiting-for.ts';
import type { Wait, WaitTable } from './wait-record.ts';

export type WaitRow = Selectable<WaitTable>;

/** `now` is by the clock that the store's processes share: a wait past its time is returned as expired. */
export function toWait(row: WaitRow, now: number): Wait {
  const { state, expires_at: expiresAt } = row;
  const past = isWaitExpired({ state, expiresAt }, now);
  return {
    id: row.id,
    threadId: row.thread_id,
    rootId: row.root_id,
    kind: row.kind,
    name: row.name,
    summary: row.summary,
    data: JSON.parse(row.data),
    fingerprint: row.fingerprint,
    executionId: row.execution_id,
    toolCallId: row.tool_call_id,
    blocks: row.blocks === 1,
    state: past ? 'expired' : state,
    answer: row.answer === null ? null : JSON.parse(row.answer),
    reason: row.reason,
    openedAt: row.opened_at,
    expiresAt,
    endedAt: row.ended_at,
  };
}

export async function findWait(db: Kysely<Tables>, id: string): Promise<WaitRow | undefined> {
  return findRow(db, 'waits', { id });
}

/** The waits of a call, oldest first. */
export async function readWaits(
  thread: ThreadTransaction,
  { step, idx }: Pick<CallRow, 'step' | 'idx'>,
): Promise<WaitRow[]> {
  return thread.select('waits', { step, idx }).selectAll().orderBy('opened_at').execute();
}

/** The arguments that the call runs with, as JSON text: its own, unless a person has changed them. */
export async function readArguments(
  thread: ThreadTransaction,
  call: Pick<CallRow, 'step' | 'idx' | 'waits' | 'arguments'>,
): Promise<string> {
  if (call.waits === 0) return call.arguments;
  // Only answers count here, not what is past its time.
  const waits = (await readWaits(thread, call)).map((row) => ({ key: row.key, wait: toWait(row, 0) }));
  const changed = findChangedArguments(waits);
  return changed ? JSON.stringify(changed.arguments) : call.arguments;
}

/** The key of the wait for a call's outcome: at most one, since such a call never begins again. */
export function reconcileKey({ step, idx }: { readonly step: number; readonly idx: number }): string {
  return `reconcile:${step}:${idx}`;
}

/** The fields that identify a wait in events. */
export function namesOf({ id, kind, name, tool_call_id: callId }: WaitRow) {
  return { waitId: id, kind, name, callId: callId ?? undefined };
}

export type WaitEnd =
  | { readonly state: 'answered'; readonly answer: WaitAnswer }
  | { readonly state: 'expired' | 'closed'; readonly reason: string };

/**
 * Ends an open wait: its row, event and call, and the thread's status unless that comes to rest. Returns the new row.
 */
export async function endWait(
  thread: ThreadTransaction,
  row: WaitRow,
  end: WaitEnd,
  { rests = false } = {},
): Promise<WaitRow> {
  const answered = end.state === 'answered';
  const changes = {
    state: end.state,
    answer: answered ? JSON.stringify(end.answer) : null,
    reason: answered ? null : end.reason,
    ended_at: thread.now,
    // No call and no step goes on with it.
    ...(rests ? { heard: 1 } : {}),
  };
  await thread.update('waits', { id: row.id }, changes);
  const { step } = row;
  if (end.state === 'answered')
    thread.emit('wait.answered', { ...namesOf(row), ...toLoggedAnswer(end.answer) }, { step });
  else thread.emit('wait.closed', { ...namesOf(row), reason: end.reason }, { step });
  thread.set({ open_waits: thread.row.open_waits - 1 });
  showOver(thread, row.id);
  await reschedule(thread, row);
  if (!rests && row.blocks === 1) await resumeUnlessBlocked(thread);
  return { ...row, ...changes };
}

/** Called when something that blocked the thread is over: sets it running again, unless something else blocks it. */
export async function resumeUnlessBlocked(thread: ThreadTransaction): Promise<void> {
  if (thread.row.status !== 'waiting') return;
  const next = await findBlocking(thread);
  if (next) return showWaiting(thread, next);
  thread.set({ status: 'running' });
  thread.emit('thread.status', { status: 'running' });
}

/** Omits the value and changed arguments, which may have secrets: only the wait's row has them. */
function toLoggedAnswer(answer: WaitAnswer) {
  if ('value' in answer) return { by: answer.by };
  const { approved, scope, covers, until, reason, by, arguments: given } = answer;
  return { approved, scope, covers, until, reason, by, changed: given ? (true as const) : undefined };
}

/** Schedules the call that gave itself up to wait for the answer. */
async function reschedule(thread: ThreadTransaction, { step, idx }: WaitRow): Promise<void> {
  if (step === null || idx === null) return;
  const call = await thread.find('tool_calls', { step, idx }, ['step', 'idx', 'state']);
  if (call?.state === 'asked') await updateCall(thread, call, { state: 'scheduled' });
}

/** What blocks the thread: the oldest of its own, else of those of descendants. */
async function findBlocking(thread: ThreadTransaction): Promise<BlockingWait | undefined> {
  if (thread.row.open_waits === 0) return undefined;
  const own = thread.select('waits', { state: 'open', blocks: 1 }).select(SHOWN);
  const below = thread
    .select('shown_waits')
    .innerJoin('waits', 'waits.id', 'shown_waits.wait_id')
    .select(SHOWN_BELOW);
  return (
    (await own.orderBy('opened_at').limit(1).executeTakeFirst()) ??
    (await below.orderBy('waits.opened_at').limit(1).executeTakeFirst())
  );
}

const SHOWN = ['id', 'kind', 'name', 'opened_at'] as const;
const SHOWN_BELOW = ['waits.id', 'waits.kind', 'waits.name', 'waits.opened_at'] as const;

type BlockingWait = Pick<WaitRow, (typeof SHOWN)[number]>;

/** Sets the thread to waiting, for this unless it waits already, and logs it. */
export function showWaiting(
  thread: ThreadTransaction,
  { id, kind, name, opened_at: since }: BlockingWait,
): void {
  showHeldUp(thread, { kind, name, since, waitId: id });
  if (thread.row.status === 'waiting') return;
  thread.set({ status: 'waiting' });
  thread.emit('thread.status', { status: 'waiting' });
}
