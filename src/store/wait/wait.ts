/**
 * Waits: opened, answered, over (core/wait/wait.ts).
 * - The key of a wait is unique in its thread, and its row has one answer: a repeated command finds what is there.
 * W2. A waiting call has no lasting effect yet: its attempt gives it up in the transaction that opens the wait, and the
 *     end of the wait makes it scheduled, for any attempt to begin from the start.
 * - Times are compared by the clock that the processes of the store share.
 * W4. No approval is requested for what the budget of the execution can never pay for.
 *
 * The waits of a call that begins: whether one is still open, and the outcomes of the others.
 */
import { parseClientToolName } from '../../core/project/client-tool.ts';
import { toJsonText } from '../../core/value/json-value.ts';
import { LIMITS } from '../../core/value/limit.ts';
import type { Grantable, WaitAnswer } from '../../core/wait/answer.ts';
import { answerProblem, isWaitExpired, judgeAnswer } from '../../core/wait/wait.ts';
import { requestAction } from '../action/action.ts';
import { reconcileByAnswer } from '../action/uncertain-action.ts';
import { stopClocks } from '../budget/lines.ts';
import { restClocks } from '../budget/rest-clocks.ts';
import { costOf, findUnaffordable } from '../budget/spend.ts';
import { saveGrant } from '../grant/grant.ts';
import type { KeyedWait } from '../tool/tool-record.ts';
import { type CommandContext, inThread } from '../transaction/context.ts';
import { updateRows } from '../transaction/rows.ts';
import { type CallRow, updateCall } from '../transaction/step-row.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import { clearUnread, showAbove, showBelow } from './shown-wait.ts';
import type { AnsweredWait, AnswerWait, OpenedWait, OpenWait, Wait } from './wait-record.ts';
import {
  endWait,
  findWait,
  namesOf,
  readWaits,
  showWaiting,
  toWait,
  type WaitEnd,
  type WaitRow,
} from './wait-row.ts';

/**
 * Opens a wait, and moves its call from started to asked in the same transaction. The same key again returns the
 * existing wait. Rejects with `InvalidValue` or `LimitExceeded` for data that cannot be stored.
 */
export async function openWait(context: CommandContext, command: OpenWait): Promise<OpenedWait> {
  const opened = await inThread<OpenedWait>(context, command.threadId, async (thread) => {
    const now = await context.clock(thread.trx);
    const known = await thread.find('waits', { key: command.key });
    if (known) {
      const wait = toWait(known, now);
      if (wait.state !== 'open') {
        // Its caller goes on.
        if (known.heard === 0) await thread.update('waits', { id: known.id }, { heard: 1 });
        return { kind: 'over', wait, news: known.heard === 0 };
      }
      if (wait.blocks) await showBlocked(context, thread, known);
      return { kind: 'open', wait };
    }
    if (thread.row.terminated_at !== null) return { kind: 'terminated' };
    const call = command.call && (await selectHeld(thread, command.call));
    if (command.call && !call) return { kind: 'late' };
    // W4: it can never be paid for. A step that asks to go on has spent nothing that counts yet.
    const cost = command.blocks && !command.call ? {} : costOf(call);
    const error = command.kind === 'approval' && (await findUnaffordable(context, thread, cost, call));
    if (error) return { kind: 'exceeded', error };
    return { kind: 'open', wait: await insertWait(thread, command, { context, call, now }) };
  });
  // Also for a wait that exists already: the worker that opened it may have been lost in between.
  if (command.blocks) await showAbove(context, command.threadId);
  return opened;
}

/** `heard`: 1 if nothing goes on with its end. Runs in the caller's transaction; after it, the caller of a blocking wait must call `showAbove`. */
export async function insertWait(
  thread: ThreadTransaction,
  command: OpenWait,
  {
    context,
    call,
    now,
    heard = 0,
  }: { context: CommandContext; call?: CallRow | undefined; now: number; heard?: 0 | 1 },
): Promise<Wait> {
  // W2: the call is given up as the wait opens.
  if (call) await updateCall(thread, call, { state: 'asked', attempt: null, waits: call.waits + 1 });
  const row = { ...toRow(thread, command, now), heard };
  await thread.insert('waits', row);
  thread.set({ open_waits: thread.row.open_waits + 1 });
  if (command.action)
    await requestAction(thread, command.action, {
      step: row.step,
      index: row.idx,
      executionId: row.execution_id,
    });
  const { summary, expires_at: expiresAt, step } = row;
  thread.emit('wait.opened', { ...namesOf(row), summary, expiresAt }, { step });
  if (command.blocks) await showBlocked(context, thread, row, call);
  return toWait(row, now);
}

/**
 * Repeated for a run that has taken the thread over. The clocks stop, since waiting for people costs no time, unless
 * other calls are under way together with this one.
 */
async function showBlocked(
  context: CommandContext,
  thread: ThreadTransaction,
  row: WaitRow,
  call?: CallRow,
): Promise<void> {
  showWaiting(thread, row);
  if (call?.parallel === 1) await restClocks(context, thread, call.step);
  else await stopClocks(context, thread);
}

/** Undefined if another attempt holds the call, or if it is over. */
async function selectHeld(
  thread: ThreadTransaction,
  { attempt, ...key }: NonNullable<OpenWait['call']>,
): Promise<CallRow | undefined> {
  const call = await thread.find('tool_calls', { step: key.step, idx: key.index });
  const held =
    attempt === undefined
      ? call?.state === 'scheduled'
      : call?.state === 'started' && call.attempt === attempt;
  return held ? call : undefined;
}

function toRow(thread: ThreadTransaction, command: OpenWait, now: number): WaitRow {
  const { id, key, kind, name, summary, blocks, call, expiresInMs } = command;
  const bound = { name: `data of the wait "${name}"`, maxBytes: LIMITS.waitBytes };
  return {
    id,
    thread_id: thread.threadId,
    root_id: thread.row.root_id,
    key,
    kind,
    name,
    summary: summary.slice(0, LIMITS.waitSummaryChars),
    data: toJsonText(command.data ?? null, bound),
    fingerprint: command.fingerprint ?? null,
    execution_id: command.executionId ?? null,
    step: call?.step ?? null,
    idx: call?.index ?? null,
    tool_call_id: command.toolCallId ?? null,
    blocks: blocks ? 1 : 0,
    state: 'open',
    answer: null,
    reason: null,
    // Later than the wait before it, so that lists have the order in which they were opened.
    opened_at: thread.stamp(),
    expires_at: expiresInMs === undefined ? null : now + expiresInMs * 1000,
    ended_at: null,
    heard: 0,
  };
}

/** Judges and stores an answer, under the lock of the wait's thread. */
type AnswerHandler = (
  context: CommandContext,
  thread: ThreadTransaction,
  row: WaitRow,
  command: AnswerWait,
  now: number,
) => Promise<AnsweredWait>;

/**
 * Stores the first answer, and schedules its call again in the same transaction. The same answer again changes
 * nothing. `answerVariables`: for a wait for variables, whose answer creates a child.
 */
export async function answerWait(
  context: CommandContext,
  command: AnswerWait,
  answerVariables: AnswerHandler,
): Promise<AnsweredWait> {
  return withWait<AnsweredWait>(context, command.id, { outcome: 'unknown' }, async (thread, row, now) => {
    if (row.kind === 'variables') return answerVariables(context, thread, row, command, now);
    const wait = toWait(row, now);
    const outcome = judgeAnswer(wait, command, now);
    if (outcome === 'unknown') return { outcome };
    if (outcome === 'taken') {
      const { grant: grantable } = (wait.data ?? {}) as { readonly grant?: Grantable };
      const asked = { kind: wait.kind, changeable: isChangeable(row), grantable };
      const reason = answerProblem(asked, command.answer) ?? untilProblem(command.answer, now);
      if (reason !== undefined) return { outcome: 'misfit', reason };
      const ended = await endWait(thread, row, { state: 'answered', answer: command.answer });
      if (row.kind === 'approval') await saveGrant(thread, row, command.answer);
      if (row.kind === 'reconcile') await reconcileByAnswer(thread, row, command.answer);
      return { outcome, wait: toWait(ended, now) };
    }
    return { outcome, wait: toWait(await expireIfPast(thread, row, now), now) };
  });
}

function untilProblem(answer: WaitAnswer, now: number): string | undefined {
  const isPast = 'approved' in answer && answer.until !== undefined && answer.until <= now;
  return isPast ? '"until" has passed' : undefined;
}

/** Code does not wait, so it has its own arguments; a client runs its tools with those that it was told. */
function isChangeable({ step, name }: WaitRow): boolean {
  return step !== null && parseClientToolName(name) === undefined;
}

/**
 * Closes a wait whose answer is no longer needed, and schedules its call again. A wait that is over stays unchanged.
 * Null if there is none.
 */
export async function closeWait(context: CommandContext, id: string, reason: string): Promise<Wait | null> {
  return withWait<Wait | null>(context, id, null, async (thread, row, now) => {
    const noticed = await expireIfPast(thread, row, now);
    if (noticed.state !== 'open') return toWait(noticed, now);
    return toWait(await endWait(thread, noticed, { state: 'closed', reason }), now);
  });
}

/** Runs `work` under the lock of the wait's thread. */
async function withWait<T>(
  context: CommandContext,
  id: string,
  absent: T,
  work: (thread: ThreadTransaction, row: WaitRow, now: number) => Promise<T>,
): Promise<T> {
  const known = await findWait(context.db, id);
  if (!known) return absent;
  const result = await inThread(context, known.thread_id, async (thread) => {
    const row = await findWait(thread.trx, id);
    return row ? work(thread, row, await context.clock(thread.trx)) : absent;
  });
  if (known.blocks === 1) await showAbove(context, known.thread_id);
  return result;
}

/** Ends a wait whose time is up; any other is returned as it is. */
async function expireIfPast(thread: ThreadTransaction, row: WaitRow, now: number): Promise<WaitRow> {
  if (!isWaitExpired({ state: row.state, expiresAt: row.expires_at }, now)) return row;
  return endWait(thread, row, { state: 'expired', reason: 'expired' } satisfies WaitEnd);
}

/** Closes what an ended execution, or thread, waited for; no child is awaited any more. True if there was any wait. */
export async function closeWaits(thread: ThreadTransaction, reason: string, all: boolean): Promise<boolean> {
  clearUnread(thread);
  if (thread.row.open_waits === 0) return false;
  await showBelow(thread, { rests: true });
  const open = await thread.select('waits', { state: 'open' }).selectAll().orderBy('opened_at').execute();
  for (const row of open) {
    if (all || row.execution_id !== null)
      await endWait(thread, row, { state: 'closed', reason }, { rests: true });
  }
  return true;
}

/** Undefined if none is open: then the call may begin. A wait past its time is ended here. */
export async function findOpenWait(
  context: CommandContext,
  thread: ThreadTransaction,
  call: CallRow,
): Promise<Wait | undefined> {
  const now = await context.clock(thread.trx);
  for (const row of await readWaits(thread, call)) {
    const noticed = await expireIfPast(thread, row, now);
    if (noticed.state !== 'open') continue;
    // If an earlier run was killed, the step was taken over, and the thread set to running.
    if (noticed.blocks === 1) showWaiting(thread, noticed);
    return toWait(noticed, now);
  }
  return undefined;
}

/** Marks the waits of a call that begins as heard, and returns them. */
export async function markWaitsHeard(
  context: CommandContext,
  thread: ThreadTransaction,
  call: CallRow,
): Promise<readonly KeyedWait[]> {
  const rows = await readWaits(thread, call);
  const unread = rows.filter(({ heard }) => heard === 0).map(({ id }) => id);
  if (unread.length > 0) await updateRows(thread.trx, 'waits', { id: unread }, { heard: 1 });
  const now = await context.clock(thread.trx);
  return rows.map((row) => ({ key: row.key, wait: toWait(row, now) }));
}
