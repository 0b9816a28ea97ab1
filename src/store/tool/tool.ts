/**
 * The lifecycle of a tool call (runtime §5): scheduled → started → done | unknown. A call that asks something goes from
 * started to asked, and at the end of its wait to scheduled (wait/wait.ts). One that ends before a call in front of it is
 * finished until that has ended (call-end.ts).
 * - A body begins only by the transition scheduled → started, under an attempt's own name: at most once, unless the
 *   tool declares itself idempotent.
 * T9. A result is stored only by the attempt that holds the call; a later one becomes an event, never a second result.
 * - The beginning of an idempotent tool is relaxed: a crashed database on another machine may forget it while the
 *   body runs. Then the call is scheduled and held by no attempt, so the result is stored.
 * - A call that is to be judged, or has waited, is begun by its gate; one that is refused ends without having begun.
 * - A call that a budget pays for is begun by its gate too: one refused before, for its arguments, costs nothing.
 * - A call that has begun before is paid for, whatever has scheduled it again.
 * - A call that waited for a report of its outcome never begins again (result.ts, R4).
 * T8. A call whose work goes on elsewhere begins once, and is continued by one attempt after another.
 */

import type { Transaction } from 'kysely';
import type { RunContext } from '../../core/governance/run-context.ts';
import { type ToolResult, toolContent, UNKNOWN_OUTCOME } from '../../core/message/message.ts';
import { LIMITS } from '../../core/value/limit.ts';
import { findChangedArguments } from '../../core/wait/changed-arguments.ts';
import { type ActionPlace, findFatalDenial, openAction } from '../action/action.ts';
import { budgetOf } from '../budget/account.ts';
import { resumeClocks } from '../budget/lines.ts';
import { costOf, spend } from '../budget/spend.ts';
import { toThreadRecord } from '../schema/rows.ts';
import type { Tables } from '../schema/tables.ts';
import { type CommandContext, inRun, inRunWith, inThreadWith } from '../transaction/context.ts';
import type { FromFlow } from '../transaction/from-run.ts';
import { selectRecent, toRecent } from '../transaction/read.ts';
import { queryTogether, type Rows } from '../transaction/statement.ts';
import { selectPlace, toOwner, toPlace } from '../transaction/step-place.ts';
import { type CallRow, readCall, selectCall, selectStep, updateCall } from '../transaction/step-row.ts';
import { StaleAttempt, type ThreadRow, type ThreadTransaction } from '../transaction/thread-transaction.ts';
import { showAbove } from '../wait/shown-wait.ts';
import { findOpenWait, markWaitsHeard } from '../wait/wait.ts';
import { endCall, settleByReconciliation, stateOfFinished } from './call-end.ts';
import { loopOf } from './loop.ts';
import { openReconcileWait, replaceOwnEnd, UNKNOWN } from './result.ts';
import type {
  BeginTool,
  BegunTool,
  CommitTool,
  CommittedTool,
  KeyedWait,
  SettledTool,
  SettleLost,
  ToolCallKey,
} from './tool-record.ts';

/**
 * Begins the body: scheduled → started, unless the call waits for an answer. Only an idempotent tool may be begun
 * again by another attempt.
 */
export async function beginTool(context: CommandContext, command: BeginTool): Promise<BegunTool> {
  const { activity: _, ...fromRun } = command;
  return inRunWith(
    context,
    fromRun,
    (trx) => queriesOf(trx, command),
    async (thread, rows) => {
      await admitAttempt(thread, command, rows[0][0]);
      return begin(context, thread, command, rows);
    },
  );
}

/**
 * The fence for an attempt at a call. Activities of calls that are under way together have begun in any order, so none
 * of them replaces another one; of one call, a later attempt replaces an earlier one.
 */
async function admitAttempt(
  thread: ThreadTransaction,
  { runId, activity }: FromFlow,
  call: Pick<CallRow, 'parallel' | 'held_since'> | undefined,
): Promise<void> {
  const together = call?.parallel === 1;
  await thread.admit({ runId, activity }, { together });
  if (together && activity && call.held_since !== null && activity.since < call.held_since)
    throw new StaleAttempt(thread.threadId, `attempt at activity ${activity.number}`);
}

/** Begins the first call of an answer, within the transaction that stores the answer. */
export async function beginWithAnswer(
  context: CommandContext,
  thread: ThreadTransaction,
  command: BeginTool,
): Promise<BegunTool> {
  return begin(context, thread, command, await queryTogether(thread.trx, queriesOf(thread.trx, command)));
}

const queriesOf = (trx: Transaction<Tables>, command: BeginTool) =>
  [
    selectCall(trx, command.threadId, command),
    selectPlace(trx, command.threadId, command.step),
    selectRecent(trx, command.threadId, command.history ? LIMITS.recentMessages : 0),
  ] as const;

async function begin(
  context: CommandContext,
  thread: ThreadTransaction,
  command: BeginTool,
  [[found], [placeRow], recent]: Rows<ReturnType<typeof queriesOf>>,
): Promise<BegunTool> {
  const { threadId, step } = command;
  const call = required(found, command);
  if (call.state === 'done' || call.state === 'unknown') return toSettled(thread, call, call.state);
  if (call.state === 'finished') return toSettled(thread, call, stateOfFinished(call));
  if (call.state === 'asked') {
    const wait = await findOpenWait(context, thread, call);
    if (wait) return { kind: 'waits', name: call.name, wait };
  }
  // The reported outcome is its result.
  const reported = await settleByReconciliation(context, thread, call);
  if (reported) return { kind: 'settled', name: call.name, ...reported, waited: true };
  const held = call.attempt === command.attempt;
  const again = call.state === 'started' && (held || command.resumes?.(call.name) === true);
  const idempotent = command.idempotent(call.name);
  if (call.state === 'started' && !again && !idempotent) return { kind: 'begun_elsewhere', name: call.name };
  const { executionId: _, ...place } = await toPlace(thread.trx, thread.row, required(placeRow, command));
  // To be judged first. If its wait has ended just now, the state is still the one from before.
  const unbegun = call.state !== 'started' && isJudged(thread.row, command, place.runContext, call);
  const over = unbegun && budgetOf(thread.row)?.exceeded;
  if (over) return { kind: 'exceeded', name: call.name, error: over };
  let leftMs: number | undefined;
  if (!unbegun) {
    const denied = call.state === 'scheduled' && (await spend(context, thread, costOf(call), { step }));
    if (denied) return { kind: 'exceeded', name: call.name, error: denied };
    leftMs = await resumeClocks(context, thread, { step });
    // If T1 matters, the disk has the beginning before the body begins.
    if (idempotent) thread.relax();
    if (command.action) await openAction(thread, command.action, toActionPlace(call, placeRow));
    if (!again) await start(thread, call, { ...command, idempotent });
    // T8: continued, not begun again.
    if (again && !held) await updateCall(thread, call, { attempt: command.attempt });
  }
  const waits = call.waits > 0 ? await markWaitsHeard(context, thread, call) : undefined;
  return {
    kind: 'run',
    repeated: call.state === 'started' && !again,
    unbegun: unbegun || undefined,
    call: {
      name: call.name,
      callId: call.call_id,
      origin: call.origin,
      messageId: call.message_id ?? undefined,
      ...toArguments(call, waits),
    },
    thread: toThreadRecord(thread.row),
    ...place,
    leftMs,
    history: command.history ? await toRecent(thread.trx, threadId, recent) : undefined,
    ...(waits && { waits }),
  };
}

function toArguments({ arguments: from }: CallRow, waits: readonly KeyedWait[] = []) {
  const changed = findChangedArguments(waits);
  if (!changed) return { arguments: from };
  const { arguments: given, ...who } = changed;
  return { arguments: JSON.stringify(given), changed: { ...who, from } };
}

/** True if the call's gate begins it. */
function isJudged(
  { agent, budget }: ThreadRow,
  { judges }: BeginTool,
  context: RunContext | null,
  { name, waits }: CallRow,
): boolean {
  return judges !== undefined && (budget !== null || waits > 0 || judges(agent, context, name));
}

function required<Row>(row: Row | undefined, { threadId, step, index }: ToolCallKey): Row {
  if (row !== undefined) return row;
  throw new Error(`Thread ${threadId} has no call ${index} in step ${step}.`);
}

/** Includes the error that ends the execution: the answer to the refused attempt may have been lost. */
async function toSettled(thread: ThreadTransaction, call: CallRow, state: 'done' | 'unknown') {
  const { name, status, directive } = call;
  const denied = loopOf(call) ?? (await findFatalDenial(thread, call));
  return {
    kind: 'settled',
    name,
    state,
    status: status ?? 'error',
    directive: directive ?? undefined,
    denied,
    ...(call.waits > 0 && ({ waited: true } as const)),
  } as const;
}

async function start(
  thread: ThreadTransaction,
  call: CallRow,
  {
    attempt,
    activity,
    idempotent,
  }: Pick<BeginTool, 'attempt' | 'activity'> & { readonly idempotent?: boolean },
): Promise<CallRow> {
  const began = {
    started_at: thread.now,
    first_seq: thread.row.event_seq,
    idempotent: idempotent === undefined ? null : Number(idempotent),
  };
  const held = call.parallel === 1 && activity ? { held_since: activity.since } : {};
  const started = { state: 'started' as const, attempt, ...began, ...held };
  await updateCall(thread, call, started);
  const { queuedMs } = activity ?? {};
  thread.emit('tool.started', { name: call.name, callId: call.call_id, queuedMs }, { step: call.step });
  return { ...call, ...started };
}

function toActionPlace(
  { step, idx: index }: CallRow,
  owner: { readonly execution_id: string } | undefined,
): ActionPlace {
  return { step, index, executionId: owner?.execution_id };
}

/** For an attempt that ends a call which is still scheduled. */
async function take(
  thread: ThreadTransaction,
  call: CallRow,
  { attempt, unbegun, action }: CommitTool,
  owner: { readonly execution_id: string } | undefined,
): Promise<CallRow> {
  if (!unbegun) return start(thread, call, { attempt });
  if (action) await openAction(thread, action, toActionPlace(call, owner));
  await updateCall(thread, call, { attempt });
  return { ...call, state: 'started', attempt };
}

/** Stores the call's single result, from any run (store.ts, P7). The same attempt again changes nothing. */
export async function commitTool(context: CommandContext, command: CommitTool): Promise<CommittedTool> {
  const { threadId, step } = command;
  return inThreadWith(
    context,
    threadId,
    (trx) => [selectCall(trx, threadId, command), selectStep(trx, threadId, step)],
    async (thread, [[row], [ownerRow]]) => {
      const found = required(row, command);
      // A person has reported the outcome, though the worker was not lost.
      if (
        found.state === 'scheduled' &&
        !command.unbegun &&
        (await settleByReconciliation(context, thread, found))
      ) {
        await reportLate(thread, found, command);
        return { kind: 'late' };
      }
      const call = found.state === 'scheduled' ? await take(thread, found, command, ownerRow) : found;
      if (call.attempt !== command.attempt) {
        await reportLate(thread, call, command);
        return { kind: thread.row.terminated_at === null ? 'late' : 'terminated' };
      }
      if (await replaceOwnEnd(thread, call, command)) return { kind: 'terminated' };
      if (call.state === 'finished') return { kind: 'stored', queued: 0 };
      const queued = command.queuedTools.length;
      const denied = loopOf(call);
      if (call.state !== 'started')
        return { kind: 'stored', queued: queued + (command.nextInput ? 1 : 0), denied };
      // A reset may have retired the run while the body ran: the result is still valid, and the call is still this
      // attempt's. Without it, the new run would have to call the outcome unknown.
      const owner = await toOwner(thread, required(ownerRow, command));
      const ended = await endCall(context, thread, call, { kind: 'answered', command }, owner);
      return { kind: 'stored', ...ended };
    },
  );
}

/**
 * Settles a call whose worker was lost. Done stays done; started becomes unknown, or waits for a person to report the
 * outcome; calls in other states may be dispatched again.
 */
export async function settleLostTool(context: CommandContext, command: SettleLost): Promise<SettledTool> {
  const { activity: _, ...fromRun } = command;
  const settled = await inRun<SettledTool>(context, fromRun, async (thread) => {
    const call = await readCall(thread, command);
    await admitAttempt(thread, command, call);
    switch (call.state) {
      case 'scheduled':
      case 'asked':
        return { kind: 'redispatch', name: call.name };
      case 'started': {
        const wait = command.asks?.(thread.row.agent) && (await openReconcileWait(context, thread, call));
        if (wait) return { kind: 'waits', name: call.name, wait };
        const result: ToolResult = { status: 'error', error: UNKNOWN_OUTCOME };
        await endCall(context, thread, call, { kind: 'settled', result, as: UNKNOWN });
        return { kind: 'settled', name: call.name, state: 'unknown', status: 'error' };
      }
      case 'finished':
        return toSettled(thread, call, stateOfFinished(call));
      case 'done':
      case 'unknown':
        return toSettled(thread, call, call.state);
    }
  });
  if (settled.kind === 'waits') await showAbove(context, command.threadId);
  return settled;
}

/**
 * A result that comes when its call already has one: an event, never a second result (T9). Logs once for each attempt,
 * which may report its late result twice.
 */
async function reportLate(
  thread: ThreadTransaction,
  call: CallRow,
  { attempt, result }: CommitTool,
): Promise<void> {
  const reported = await thread
    .select('events', { type: 'tool.late_result', step: call.step })
    .select('data')
    .execute();
  if (reported.some(({ data }) => (JSON.parse(data) as { attempt: string }).attempt === attempt)) return;
  if (!result) return;
  const content = toolContent(result).slice(0, 2000);
  thread.emit(
    'tool.late_result',
    { name: call.name, callId: call.call_id, status: result.status, result: content, attempt },
    { step: call.step },
  );
}
