/**
 * Records calls that have run, for the detection of loops, and the verdicts of its detectors (core/guard/loop.ts). The
 * window consists of the calls' rows: it is the same for every run, worker and attempt.
 * - Only a model's calls count: those of the execution and its side, or of the sub-prompt's step.
 * - A call is progress if it returns successfully what no other one of the execution has returned, or if a file or a
 *   value has changed since it began.
 *
 * Warnings of loops that the next request of a side must include, kept in the thread's row until that request has been
 * answered: another attempt includes them again. A new execution starts without any.
 */
import { hash } from 'node:crypto';
import type { Updateable } from 'kysely';
import {
  addWarning,
  findLoop,
  type LoopGuard,
  type LoopVerdict,
  type LoopWarning,
  toLoopError,
} from '../../core/guard/loop.ts';
import { type ToolResult, toolContent } from '../../core/message/message.ts';
import { parseArguments } from '../../core/message/tool-call.ts';
import type { StoredError } from '../../core/thread/step.ts';
import { canonicalJson } from '../../core/value/canonical-json.ts';
import type { ToolCallTable } from '../schema/tables.ts';
import { queryTogether } from '../transaction/statement.ts';
import type { Owner } from '../transaction/step-place.ts';
import { type CallRow, selectExecutionCalls } from '../transaction/step-row.ts';
import type { ThreadRow, ThreadTransaction } from '../transaction/thread-transaction.ts';
import { readArguments } from '../wait/wait-row.ts';

/** Columns of the call's row. */
type WatchColumns = Updateable<Pick<ToolCallTable, 'signature' | 'outcome' | 'progress' | 'loop'>>;

interface WatchedCall {
  readonly columns: WatchColumns;
  readonly verdict?: LoopVerdict;
  /** Number of calls at which the execution ends. */
  readonly limit: number;
}

/** Called before the result is stored. Undefined if the call does not count. */
export async function watchCall(
  thread: ThreadTransaction,
  call: CallRow,
  { guard, result, owner }: { readonly guard: LoopGuard; readonly result: ToolResult; readonly owner: Owner },
): Promise<WatchedCall | undefined> {
  // Calls that a person or code has queued do not count.
  if (call.origin !== 'model') return undefined;
  const { name, step, first_seq: since } = call;
  const text = await readArguments(thread, call);
  const signature = digest(canonicalJson(parseArguments(text) ?? text));
  const outcome = result.status === 'success' ? digest(toolContent(result)) : null;
  const [before, same, changed] = await queryTogether(thread.trx, [
    selectNewest(thread, owner, step).limit(guard.history - 1),
    selectSame(thread, owner, outcome),
    selectChanges(thread, since),
  ]);
  const progress = (outcome !== null && same.length === 0) || changed.length > 0;
  const verdict = findLoop(
    [
      { name, signature, progress },
      ...before.map((each) => ({ ...each, signature: each.signature ?? '', progress: each.progress === 1 })),
    ],
    guard,
  );
  const loop = verdict?.severity === 'critical' ? JSON.stringify(toWarning(name, verdict)) : null;
  const columns = { signature, outcome, progress: progress ? 1 : 0, loop };
  return { columns, verdict, limit: guard.critical };
}

/** Half of a SHA-256, as hex digits. */
function digest(text: string): string {
  return hash('sha256', text).slice(0, 32);
}

/** The newest first. */
function selectNewest(thread: ThreadTransaction, owner: Owner, step: number) {
  const calls = selectExecutionCalls(thread, owner.executionId)
    .select(['tool_calls.name', 'tool_calls.signature', 'tool_calls.progress'])
    .where('tool_calls.signature', 'is not', null)
    .orderBy('tool_calls.step', 'desc')
    .orderBy('tool_calls.idx', 'desc');
  if (owner.subprompt) return calls.where('tool_calls.step', '=', step);
  return calls.where('steps.parent_step', 'is', null).where('steps.side', '=', owner.side);
}

function selectSame(thread: ThreadTransaction, owner: Owner, outcome: string | null) {
  return selectExecutionCalls(thread, owner.executionId)
    .select('tool_calls.idx')
    .where('tool_calls.outcome', '=', outcome)
    .limit(1);
}

const CHANGES = ['value.changed', 'file.created', 'file.updated', 'file.deleted'];

function selectChanges(thread: ThreadTransaction, since: number | null) {
  return thread
    .select('events')
    .select('seq')
    .where('seq', '>', since ?? thread.row.event_seq)
    .where('type', 'in', CHANGES)
    .limit(1);
}

function toWarning(name: string, { detector, count }: LoopVerdict): LoopWarning {
  return { name, detector, count };
}

/** Logs the verdict, after the call's result. Returns the error with which the execution ends, if it does. */
export function emitLoop(
  thread: ThreadTransaction,
  call: CallRow,
  { verdict, limit }: WatchedCall,
  owner: Owner,
): StoredError | undefined {
  if (!verdict) return undefined;
  const { severity, detector, count } = verdict;
  const { name, call_id: callId, step } = call;
  const called = { name, callId, detector, count };
  if (severity === 'critical') thread.emit('loop.critical', called, { step });
  else thread.emit('loop.warning', { ...called, limit }, { step });
  const warning = toWarning(name, verdict);
  if (severity === 'critical') return toLoopError(warning);
  // A sub-prompt's model is not called again.
  if (!owner.subprompt) saveWarning(thread, owner, warning);
  return undefined;
}

/** The error with which a call has ended its execution; undefined if it has not. */
export function loopOf({ loop }: Pick<CallRow, 'loop'>): StoredError | undefined {
  return loop === null ? undefined : toLoopError(JSON.parse(loop) as LoopWarning);
}

type WarnedSide = Pick<Owner, 'executionId' | 'side'>;
type StoredWarnings = WarnedSide & { readonly warnings: readonly LoopWarning[] };

function saveWarning(
  thread: ThreadTransaction,
  { executionId, side }: WarnedSide,
  warning: LoopWarning,
): void {
  const warnings = addWarning(warningsOf(thread.row, { executionId, side }), warning);
  thread.set({ loop_warnings: JSON.stringify({ executionId, side, warnings } satisfies StoredWarnings) });
}

export function warningsOf(
  { loop_warnings: text }: Pick<ThreadRow, 'loop_warnings'>,
  { executionId, side }: WarnedSide,
): readonly LoopWarning[] {
  if (text === null) return [];
  const kept = JSON.parse(text) as StoredWarnings;
  return kept.executionId === executionId && kept.side === side ? kept.warnings : [];
}

/** Removes the warnings of a side that has answered. */
export function forgetWarnings(thread: ThreadTransaction, answered: WarnedSide): void {
  if (warningsOf(thread.row, answered).length > 0) thread.set({ loop_warnings: null });
}
