/**
 * Decides whether the next step of an execution may begin. The step checks under its thread's lock (begin-step.ts), and
 * hooks get the expected verdict in advance (message/pending.ts). In turn: an agent's step limits
 * (core/thread/step-limit.ts), the rounds of a turn (core/guard/round.ts), and calls that have failed in a row
 * (core/guard/failure.ts). Rounds and failures pause the open execution until a person lets it go on.
 * - Rounds are the model steps since the newest message from outside, which grants new ones. Their limit is kept in
 *   the thread's row when an execution begins: definitions of another build hold from the next one on. A thread
 *   without a limit needs no query.
 * - A subagent pauses with a wait, keyed by its execution and the start of its rounds; a root thread's execution ends,
 *   unless its guard pauses it.
 * - Failures are counted in the calls' rows: a success ends the series, and a killed worker loses nothing. Failures
 *   before help was given no longer count.
 * - The wait of a pause is found by its key, so that a repeated check finds the same one. If it is approved, or a
 *   message comes from outside, the same execution goes on; if it is refused, the execution ends.
 */
import type { Side } from '../../core/author/thread-execution.ts';
import { type PausedFailures, toFailuresError } from '../../core/guard/failure.ts';
import { type RoundLimits, toExecutedTools, toRoundsError } from '../../core/guard/round.ts';
import { planStep } from '../../core/thread/plan-step.ts';
import type { StoredError } from '../../core/thread/step.ts';
import { findLimit, type LimitReason, type Progress } from '../../core/thread/step-limit.ts';
import { type DueRow, type InputWish, wishOf } from '../message/drain.ts';
import { countPending } from '../message/queue.ts';
import { findRow } from '../transaction/rows.ts';
import { askedSteps, countAnswered } from '../transaction/step-count.ts';
import { selectExecutionCalls } from '../transaction/step-row.ts';
import type { ThreadRow, ThreadTransaction } from '../transaction/thread-transaction.ts';
import type { WaitRow } from '../wait/wait-row.ts';
import type { BeginStep, BegunStep } from './step-record.ts';

interface AskedStep extends Progress {
  readonly thread: Pick<ThreadRow, 'agent' | 'next_agent' | 'turn_open'>;
  readonly input: InputWish;
  /** The side that would act. */
  readonly side: Side;
}

/**
 * Returns the limit that forbids the requested step; undefined if none does, or if it calls neither model nor tools.
 * Not called for a step that is taken over: it has begun already.
 */
export function findLimitOf(
  rules: BeginStep['rules'],
  { thread, input: { hasTools, wantsAnswer }, side, ...progress }: AskedStep,
): LimitReason | undefined {
  const bound = rules?.(thread.next_agent ?? thread.agent).limits;
  if (!bound) return undefined;
  const turnOpen = thread.turn_open === 1 || wantsAnswer || hasTools;
  if (planStep({ newTools: hasTools, turnOpen }) === 'nothing') return undefined;
  return findLimit(bound, progress, side);
}

interface RoundState extends FailureState {
  /** The number of model steps of the execution when its rounds began. */
  readonly from: number;
  readonly max: RoundLimits;
}

const roundStateOf = ({ rounds }: Pick<ThreadRow, 'rounds'>) =>
  rounds === null ? undefined : (JSON.parse(rounds) as RoundState);

type Read = Pick<ThreadTransaction, 'trx' | 'row'>;

/** Judges whether one more model step of an open execution may begin; undefined if it may. */
export async function judgeRounds(thread: Read, asked: AskedRounds): Promise<RoundsVerdict | undefined> {
  const { row } = thread;
  const { input } = asked;
  const kept = roundStateOf(row);
  const asksModel = !input.hasTools && (row.turn_open === 1 || input.wantsAnswer);
  if (!kept || !asksModel) return undefined;
  return (await judgeTurn(thread, asked, kept)) ?? judgeFailures(thread, asked, kept);
}

async function judgeTurn(
  { trx, row }: Read,
  { input, side, executionId }: AskedRounds,
  kept: RoundState,
): Promise<RoundsVerdict | undefined> {
  const max = kept.max[side];
  if (max === undefined) return undefined;
  const { a, b } = await countAnswered(trx, row);
  const round = a + b - kept.from;
  if (round < max) return undefined;
  const error = toRoundsError(max);
  if (row.parent_id === null && !kept.max.pause)
    return hasOutsideMessage(input) ? undefined : { do: 'end', error };
  const key = keyOf(executionId, kept);
  return judgePause({ trx, row }, input, { key, rounds: { round, maxRounds: max }, error });
}

function keyOf(executionId: string, { from }: RoundState): string {
  return `paused:${executionId}:${from}`;
}

interface FailureState {
  readonly max: { readonly failures?: number };
  /** The last step whose failures no longer count. */
  readonly helped?: number;
}

/** Checked before a model step; undefined if it may begin. */
async function judgeFailures(
  thread: Read,
  { input, side, executionId }: AskedRounds,
  kept: FailureState,
): Promise<RoundsVerdict | undefined> {
  const failures = await findFailures(thread, { side, executionId }, kept);
  if (!failures) return undefined;
  const key = failureKey(executionId, kept);
  return judgePause(thread, input, { key, failures, error: toFailuresError(failures) });
}

function failureKey(executionId: string, { helped = 0 }: FailureState): string {
  return `failures:${executionId}:${helped}`;
}

/** Undefined if one of the newest calls has succeeded, or there are fewer calls. */
async function findFailures(
  thread: Read,
  { side, executionId }: Pick<AskedRounds, 'side' | 'executionId'>,
  { max: { failures: max }, helped = 0 }: FailureState,
): Promise<PausedFailures | undefined> {
  if (max === undefined) return undefined;
  const newest = await selectExecutionCalls(thread, executionId)
    .select(['tool_calls.name', 'tool_calls.status'])
    .where('tool_calls.step', '>', helped)
    .where('tool_calls.origin', '=', 'model')
    .where('steps.parent_step', 'is', null)
    .where('steps.side', '=', side)
    .orderBy('tool_calls.step', 'desc')
    .orderBy('tool_calls.idx', 'desc')
    .limit(max)
    .execute();
  const [last] = newest;
  const inRow = newest.length === max && newest.every(({ status }) => status === 'error');
  return last && inRow ? { failures: max, tool: last.name } : undefined;
}

/** What the next step would drain. */
interface NextInput extends InputWish {
  readonly rows: readonly DueRow[];
}

/** The open execution that is checked, and the input of its next step. */
interface AskedRounds {
  readonly input: NextInput;
  readonly side: ThreadRow['side'];
  readonly executionId: string;
}

/** True if a message from outside wants an answer. */
function hasOutsideMessage({ rows }: NextInput): boolean {
  return wishOf(
    rows.filter(({ own }) => own === 0),
    true,
  ).wantsAnswer;
}

interface PauseReason {
  readonly key: string;
  /** Set if the rounds are used up. */
  readonly rounds?: { readonly round: number; readonly maxRounds: number };
  readonly failures?: PausedFailures;
}

export type RoundsVerdict =
  | { readonly do: 'end'; readonly error: StoredError }
  /** `interruptedWait`: the open wait that a message from outside has ended. */
  | (PauseReason & { readonly do: 'pause'; readonly interruptedWait?: string });

/** Undefined if the step may begin. */
async function judgePause(
  { trx, row }: Pick<ThreadTransaction, 'trx' | 'row'>,
  input: NextInput,
  { error, ...reason }: PauseReason & { readonly error: StoredError },
): Promise<RoundsVerdict | undefined> {
  const wait = await findRow(trx, 'waits', { thread_id: row.id, key: reason.key });
  const isOver = wait !== undefined && wait.state !== 'open';
  if (isOver) return isApproved(wait) || hasOutsideMessage(input) ? undefined : { do: 'end', error };
  if (hasOutsideMessage(input)) return wait && { do: 'pause', ...reason, interruptedWait: wait.id };
  return { do: 'pause', ...reason };
}

function isApproved({ state, answer }: WaitRow): boolean {
  return state === 'answered' && answer !== null && JSON.parse(answer).approved === true;
}

const total = (row: ThreadRow): number => askedSteps(row).a + askedSteps(row).b;

function setRounds(thread: ThreadTransaction, kept: RoundState | undefined): void {
  const rounds = kept ? JSON.stringify(kept) : null;
  if (rounds !== thread.row.rounds) thread.set({ rounds });
}

/** Stores the limit when an execution begins, or `handsOver` to another agent, whose limits hold from then on. */
export function pinRounds(
  thread: ThreadTransaction,
  max: RoundLimits | undefined,
  { handsOver = false } = {},
): void {
  const { row } = thread;
  const from = (handsOver ? roundStateOf(row)?.from : undefined) ?? total(row);
  // Failures under another agent do not count for this one.
  const helped = handsOver && max?.failures !== undefined ? row.last_step : undefined;
  setRounds(thread, max && { from, max, helped });
}

/** The step does not begin, and its input stays in line. */
export async function pause(
  thread: ThreadTransaction,
  {
    do: _,
    executionId,
    rounds,
    ...reason
  }: Extract<RoundsVerdict, { do: 'pause' }> & Pick<AskedRounds, 'executionId'>,
): Promise<Extract<BegunStep, { kind: 'paused' }>> {
  const { agent, last_step: step } = thread.row;
  const executedTools = rounds && toExecutedTools(await readCalled(thread, executionId));
  const shown = rounds && executedTools && { ...rounds, executedTools };
  const pause = { ...reason, executionId, agent, rounds: shown };
  return { kind: 'paused', step, swept: 0, waiting: await countPending(thread), pause };
}

/** Names of the called tools, oldest first. */
async function readCalled(thread: ThreadTransaction, executionId: string) {
  const calls = await selectExecutionCalls(thread, executionId)
    .select('tool_calls.name')
    .orderBy('tool_calls.step')
    .orderBy('tool_calls.idx')
    .execute();
  return calls.map(({ name }) => name);
}

/**
 * Called when the step may begin. Grants new rounds after a message from outside, or an approval, and marks the wait
 * for that as heard.
 */
export async function grantRounds(
  thread: ThreadTransaction,
  input: AskedRounds['input'],
  executionId: string,
): Promise<void> {
  const kept = roundStateOf(thread.row);
  const side = input.answering ?? thread.row.side;
  if (!kept || (input.hasTools && !hasOutsideMessage(input))) return;
  const granted = await grantTurn(thread, { input, side, executionId }, kept);
  setRounds(thread, await grantHelp(thread, { input, side, executionId }, granted));
}

async function grantTurn(
  thread: ThreadTransaction,
  { input, side, executionId }: AskedRounds,
  kept: RoundState,
): Promise<RoundState> {
  const max = kept.max[side];
  if (max === undefined) return kept;
  const { a, b } = await countAnswered(thread.trx, thread.row);
  const usedUp = a + b - kept.from >= max;
  if (!hasOutsideMessage(input) && !usedUp) return kept;
  if (usedUp && (thread.row.parent_id !== null || kept.max.pause))
    await markPauseHeard(thread, keyOf(executionId, kept));
  return { ...kept, from: a + b };
}

/** Failures up to now no longer count. */
async function grantHelp(
  thread: ThreadTransaction,
  { input, side, executionId }: AskedRounds,
  kept: RoundState,
): Promise<RoundState> {
  if (kept.max.failures === undefined) return kept;
  const failed = await findFailures(thread, { side, executionId }, kept);
  if (failed) await markPauseHeard(thread, failureKey(executionId, kept));
  return failed || hasOutsideMessage(input) ? { ...kept, helped: thread.row.last_step } : kept;
}

async function markPauseHeard(thread: ThreadTransaction, key: string): Promise<void> {
  await thread.update('waits', { key }, { heard: 1 });
}
