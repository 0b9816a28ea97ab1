/**
 * A step: opened with the thread's next number in the transaction that decided on it, with its tool calls scheduled in
 * their order (runtime §5.1); retried; and ended: committed with its answer, or failed with its reason (runtime §3.4).
 * - Only an open step can be ended; a later command finds what the first one stored.
 * - A sub-prompt's step only concerns the call that it answers. It does not change what belongs to the thread:
 *   unanswered input, the thread's last error.
 * C3. The model call that brought the answer ends in the transaction that stores it, even if too late: it was paid for.
 */

import type { CallRepair } from '../../core/answer/clean-calls.ts';
import type { RetryCause } from '../../core/event/cause.ts';
import { answerIdOf } from '../../core/message/answer-id.ts';
import type { ToolCall } from '../../core/message/message.ts';
import { roleOf } from '../../core/thread/session.ts';
import type { StoredError } from '../../core/thread/step.ts';
import { budgetOf } from '../budget/account.ts';
import { endWait, settleUnreported } from '../budget/reserve.ts';
import type { Drained, DrainedTool } from '../message/drain.ts';
import { enqueueTools } from '../message/queue.ts';
import { forgetWarnings } from '../tool/loop.ts';
import { beginWithAnswer } from '../tool/tool.ts';
import { type CommandContext, inRun, inRunWith, inThread } from '../transaction/context.ts';
import type { StepRef } from '../transaction/from-run.ts';
import { inBatches, insertRows, selectRows, updateRows } from '../transaction/rows.ts';
import { statement } from '../transaction/statement.ts';
import {
  closeStep,
  countStep,
  readOpenSteps,
  uncountAskedStep,
  uncountStep,
} from '../transaction/step-count.ts';
import { toSubprompt } from '../transaction/step-place.ts';
import { readCall, type StepRow, selectStep } from '../transaction/step-row.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import { saveScratch } from './execution.ts';
import type {
  BeginStep,
  CommitStep,
  CommittedStep,
  RejectAnswer,
  SaveFlow,
  StepRecord,
} from './step-record.ts';
import { discardStreamed, selectModelCall, settleModelCall } from './stream.ts';

type OwnFields = Pick<StepRow, 'kind' | 'state'> &
  Partial<
    Pick<
      StepRow,
      'directive' | 'parent_step' | 'parent_idx' | 'depth' | 'prompt' | 'arguments' | 'side' | 'rejected'
    >
  >;

export async function insertStep(
  thread: ThreadTransaction,
  executionId: string,
  fields: OwnFields,
): Promise<number> {
  const step = thread.row.last_step + 1;
  thread.set({ last_step: step });
  countStep(thread, { step, side: thread.row.side, ...fields });
  await thread.insert('steps', {
    step,
    execution_id: executionId,
    attempt: 1,
    text: 0,
    first_seq: thread.row.event_seq,
    opened_at: thread.now,
    closed_at: fields.state === 'open' ? null : thread.now,
    depth: 0,
    side: thread.row.side,
    ...fields,
  });
  return step;
}

/** Opens the step of a model call; the activity makes the call itself. */
export async function openModelStep(
  context: CommandContext,
  thread: ThreadTransaction,
  command: BeginStep,
  drained: Drained,
): Promise<number> {
  // A step that a retired run left open will never be committed: its run is fenced off.
  for (const abandoned of await readOpenSteps(thread.trx, thread.row)) {
    await thread.update('steps', { step: abandoned.step }, { state: 'abandoned', closed_at: thread.now });
    uncountStep(thread, abandoned);
    await settleUnreported(context, thread, abandoned);
  }
  const { executionId, directive = null } = command;
  const step = await insertStep(thread, executionId, { kind: 'model', state: 'open', directive });
  thread.set({ turn_open: 1 });
  const { side } = thread.row;
  const { queuedMs } = command.activity ?? {};
  const items = command.items.length + drained.swept;
  const eventData = { items, side: side === 'b' ? side : undefined, queuedMs };
  thread.emit('step.started', eventData, { step, attempt: 1 });
  return step;
}

/** Opens the step of queued tools. It needs no answer, so it is committed as it opens. */
export async function openToolStep(
  thread: ThreadTransaction,
  { executionId, ...asked }: Pick<BeginStep, 'executionId'> & Pick<StepRecord, 'directive'>,
  tools: readonly DrainedTool[],
  kind: 'tools' | 'immediate' = 'tools',
): Promise<number> {
  const { directive = null } = asked;
  const step = await insertStep(thread, executionId, { kind, state: 'committed', directive });
  await scheduleCalls(thread, step, tools);
  return step;
}

/**
 * Gives up this attempt as its worker shuts down: the log then reports that, and not a lost worker, as the reason for
 * the next attempt. No effect once that has begun.
 */
export async function handOverStep(
  context: CommandContext,
  { threadId, step, attempt }: StepRef,
): Promise<void> {
  await updateRows(
    context.db,
    'steps',
    { thread_id: threadId, step, attempt, state: 'open' },
    { handed_over: attempt },
  );
}

/** Begins another attempt at an open step whose worker was lost, or has shut down. Returns the attempt's number. */
export async function retryStep(
  context: CommandContext,
  thread: ThreadTransaction,
  {
    step,
    attempt: before,
    handed_over,
    left,
    activity,
  }: Pick<StepRow, 'step' | 'attempt' | 'handed_over'> & Pick<BeginStep, 'left' | 'activity'>,
): Promise<number> {
  const attempt = before + 1;
  await thread.update('steps', { step }, { attempt });
  // `model.held` has told why, and no call is open.
  if (left) return attempt;
  await thread.update('model_calls', { step, state: 'started' }, { state: 'lost', ended_at: thread.now });
  await settleUnreported(context, thread, { step });
  const handedOver = handed_over === before;
  const cause = endWait(thread) ? 'budget' : handedOver ? 'worker_shutdown' : 'worker_lost';
  await discardStreamed(thread, { step, attempt: before }, handedOver ? 'WorkerShutdown' : 'WorkerLost');
  const told = { reason: RETRY_REASONS[cause], cause, queuedMs: activity?.queuedMs } as const;
  thread.emit('step.retried', { ...told, handedOver: handedOver || undefined }, { step, attempt });
  return attempt;
}

const RETRY_REASONS: Readonly<Record<RetryCause, string>> = {
  worker_lost: 'its worker was lost',
  worker_shutdown: 'its worker has shut down',
  budget: 'other requests had reserved the rest of its budget',
};

interface ScheduledCall {
  readonly callId: string;
  readonly name: string;
  /** The caller's JSON text, unparsed. */
  readonly arguments: string;
  readonly origin: 'model' | 'signal' | 'code';
  /** Repairs that were made before the call was scheduled. */
  readonly repairs?: readonly CallRepair[];
  /** Set if it may be under way together with its neighbours that have the mark. */
  readonly parallel?: boolean;
}

export async function scheduleCalls(
  thread: ThreadTransaction,
  step: number,
  calls: readonly ScheduledCall[],
  /** The depth of the step's messages. */
  depth = 0,
): Promise<void> {
  if (calls.length === 0) return;
  const marked = calls.some(({ parallel }) => parallel);
  const rows = calls.map((call, idx) => ({
    thread_id: thread.threadId,
    step,
    idx,
    call_id: call.callId,
    name: call.name,
    arguments: call.arguments,
    origin: call.origin,
    state: 'scheduled' as const,
    waits: 0,
    ...(marked && { parallel: call.parallel ? 1 : null }),
  }));
  for (const batch of inBatches(rows)) await insertRows(thread.trx, 'tool_calls', batch);
  for (const { name, callId, origin, repairs = [] } of calls) {
    const data = {
      name,
      callId,
      queued: origin !== 'model' || undefined,
      repaired: repairs.length > 0 ? repairs : undefined,
      depth: depth || undefined,
    };
    thread.emit('tool.called', data, { step });
  }
}

/**
 * Stores the answer with its calls, and begins the first of them if asked to. A step ends once: a later caller receives
 * what the first one stored, and begins nothing.
 */
export async function commitStep(context: CommandContext, command: CommitStep): Promise<CommittedStep> {
  const { step } = command;
  return endOpenStep(context, command, async (thread, opened) => {
    // Hooks of the drained messages gave their directive before those of the answer; the last one counts.
    const answer = { ...command, directive: command.directive ?? opened.directive ?? undefined };
    await storeAnswer(thread, answer, opened);
    const { kind, side } = opened;
    const { content = null, model, directive = null } = answer;
    const written = { step, kind, side, model, directive, text: hasText(content) ? 1 : 0 };
    const calls = answer.toolCalls.map((made) => made.function.name);
    const record = toStepRecord(thread, written, calls, answer.parallel);
    const { begins } = command;
    const mayBegin = begins && !record.exceeded && !(begins.activity && thread.isReplaced(begins.activity));
    const begun = mayBegin ? await beginWithAnswer(context, thread, begins) : undefined;
    return { kind: 'stored', record, begun };
  });
}

/** Settles the model call that has answered, and ends the step if nobody has. */
function endOpenStep(
  context: CommandContext,
  command: StepRef & Pick<CommitStep, 'usage' | 'call'>,
  end: (thread: ThreadTransaction, opened: StepRow) => Promise<CommittedStep>,
): Promise<CommittedStep> {
  const { threadId, step, call } = command;
  const answered = { ...command, call: 0, ...call };
  return inRunWith(
    context,
    command,
    (trx) => [selectStep(trx, threadId, step), selectModelCall(trx, answered)],
    async (thread, [[opened], [known]]) => {
      if (!opened) throw new Error(`Thread ${threadId} has no step ${step}.`);
      // C3: before it is known whether the answer is stored.
      await settleModelCall(context, thread, { ...answered, ok: true }, known);
      if (opened.state === 'committed') return findCommitted(thread, command, opened);
      if (opened.state !== 'open' || !(await isWanted(thread, opened))) return { kind: 'closed' };
      return end(thread, opened);
    },
  );
}

/** `byOther`: another attempt has committed the step, not a repetition of this command. */
async function findCommitted(
  thread: ThreadTransaction,
  { step, attempt }: StepRef,
  { first_seq: firstSeq }: StepRow,
): Promise<CommittedStep> {
  const emitted = await thread
    .select('events', { type: 'step.committed', step })
    .select('attempt')
    .where('seq', '>', firstSeq)
    .executeTakeFirst();
  const record = await describeStep(thread, step);
  return { kind: 'stored', record, byOther: (emitted && emitted.attempt !== attempt) || undefined };
}

/** Stores all that an answer leaves: its message, the step's end, its calls, its event. */
async function storeAnswer(thread: ThreadTransaction, answer: CommitStep, opened: StepRow): Promise<void> {
  const { step, attempt, model, finishReason, usage, content = null } = answer;
  const { side, execution_id: executionId, first_seq: firstSeq } = opened;
  const subprompt = await toSubprompt(thread.trx, thread.threadId, opened);
  // A sub-prompt has its own conversation.
  const role = subprompt ? 'assistant' : roleOf(side);
  const { messageId = answerIdOf(thread.threadId, step) } = answer;
  const { metadata, silent, attachments, reasoning, parts, prompt, toolCalls } = answer;
  await thread.insertMessage({
    id: messageId,
    role,
    content,
    metadata,
    silent,
    attachments,
    reasoning,
    parts,
    prompt,
    tool_calls: toolCalls.length > 0 ? JSON.stringify(toolCalls) : null,
    parent_id: subprompt?.parentId,
    depth: subprompt?.depth,
    executionId,
    step,
  });
  await saveScratch(thread, executionId, answer.context);
  if (answer.typed && !subprompt) {
    thread.set({ output: messageId });
    await thread.update('executions', { id: executionId }, { output: messageId, rejected: null });
  }
  await thread.update(
    'steps',
    { step },
    {
      state: 'committed',
      message_id: messageId,
      model,
      text: hasText(content) ? 1 : 0,
      directive: answer.directive ?? null,
      closed_at: thread.now,
    },
  );
  closeStep(thread);
  const { repairs = [], dropped = 0 } = answer.repaired ?? {};
  const chunks = await countChunks(thread, step, firstSeq);
  const { typed } = answer;
  const more = { chunks, droppedCalls: dropped || undefined, typed, depth: subprompt?.depth };
  thread.emit('step.committed', { messageId, model, finishReason, usage, ...more }, { step, attempt });
  const { parallel = [] } = answer;
  const calls = toolCalls.map((call, index) => ({
    ...toScheduledCall(call, repairs[index]),
    parallel: parallel.includes(index),
  }));
  await scheduleCalls(thread, step, calls, subprompt?.depth);
  await enqueueTools(thread, answer.queuedTools);
  // The thread's input stays unanswered.
  if (subprompt) return;
  thread.set({ answer_due: 0 });
  forgetWarnings(thread, { executionId, side });
}

/**
 * Ends a step whose answer does not fit its type: the log keeps the answer, and what it has streamed is void. The next step asks
 * for it again; with `error` the step fails. A step ends once, as for `commitStep`.
 */
export async function rejectAnswer(context: CommandContext, command: RejectAnswer): Promise<CommittedStep> {
  const { step, attempt, error, rejected, model, finishReason, usage } = command;
  return endOpenStep(context, command, async (thread, opened) => {
    const { execution_id: executionId, kind, side, parent_step: parent } = opened;
    await discardStreamed(thread, { step, attempt }, 'OutputRejected');
    const last = error && (true as const);
    thread.emit('output.rejected', { ...rejected, last, model, finishReason, usage }, { step, attempt });
    await saveScratch(thread, executionId, command.context);
    const kept = JSON.stringify(rejected);
    if (parent === null) await thread.update('executions', { id: executionId }, { rejected: kept });
    const state = error ? 'failed' : 'committed';
    const directive = error ? null : 'rejected';
    const own = parent === null ? {} : { rejected: kept };
    await thread.update('steps', { step }, { state, model, directive, ...own, closed_at: thread.now });
    closeStep(thread);
    await enqueueTools(thread, command.queuedTools);
    if (error) {
      // The error of a sub-prompt belongs to its call.
      if (parent === null) thread.set({ last_error: JSON.stringify(error) });
      thread.emit('step.failed', { ...error }, { step, attempt });
      return { kind: 'closed' };
    }
    const written = { step, kind, side, model, directive, text: 0 } as const;
    return { kind: 'stored', record: toStepRecord(thread, written, []) };
  });
}

/** False if its call was settled when the execution ended: the answer is ignored, since its calls would never run. */
async function isWanted(thread: ThreadTransaction, row: StepRow): Promise<boolean> {
  const { parent_step: step, parent_idx: index } = row;
  if (step === null || index === null) return true;
  const { state } = await readCall(thread, { step, index });
  return state !== 'done' && state !== 'unknown';
}

function toScheduledCall(
  { id, function: { name, arguments: text } }: ToolCall,
  repairs: ScheduledCall['repairs'],
): ScheduledCall {
  return { callId: id, name, arguments: text, origin: 'model', repairs };
}

function hasText(content: string | null): boolean {
  return content !== null && content.trim().length > 0;
}

const selectChunkCount = statement((db, threadId: string, step: number, firstSeq: number) =>
  selectRows(db, 'events', { thread_id: threadId, type: 'model.chunk', step })
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('seq', '>', firstSeq),
);

/** Rows of the step's streamed text, of all attempts: the log keeps their number when they have been removed. */
async function countChunks({ trx, threadId }: ThreadTransaction, step: number, firstSeq: number) {
  const { count } = await selectChunkCount(trx, threadId, step, firstSeq).executeTakeFirstOrThrow();
  return count;
}

/** Ends an open step without an answer; only its newest attempt may. A committed step is returned unchanged. */
export async function failStep(
  context: CommandContext,
  command: StepRef & { readonly error: StoredError },
): Promise<CommittedStep> {
  return inRun(context, command, async (thread) => {
    const { step, attempt, error } = command;
    const { kind, side, state, attempt: current } = await thread.read('steps', { step });
    if (state === 'committed') return { kind: 'stored', record: await describeStep(thread, step) };
    // A worker presumed lost must not fail the attempt of another one; its answer would be accepted.
    if (state !== 'open' || current !== attempt) return { kind: 'closed' };
    await thread.update('steps', { step }, { state: 'failed', closed_at: thread.now });
    uncountAskedStep(thread, { step, kind, side });
    // The error belongs to the call.
    if (kind !== 'prompt') thread.set({ last_error: JSON.stringify(error) });
    thread.emit('step.failed', { ...error }, { step, attempt });
    return { kind: 'closed' };
  });
}

export async function describeStep(thread: ThreadTransaction, step: number): Promise<StepRecord> {
  const row = await thread.read('steps', { step });
  const calls = await thread
    .select('tool_calls', { step })
    .select(['name', 'parallel'])
    .orderBy('idx')
    .execute();
  const names = calls.map(({ name }) => name);
  const parallel = calls.flatMap((call, index) => (call.parallel === 1 ? [index] : []));
  return toStepRecord(thread, row, names, parallel);
}

/** `exceeded`: if what the step received has used up a budget. */
function toStepRecord(
  { row: thread }: ThreadTransaction,
  {
    step,
    kind,
    text,
    model,
    side,
    directive,
  }: Pick<StepRow, 'step' | 'kind' | 'text' | 'model' | 'side' | 'directive'>,
  calls: readonly string[],
  parallel: readonly number[] = [],
): StepRecord {
  return {
    step,
    kind,
    text: text === 1,
    model,
    side,
    agent: thread.agent,
    turns: thread.turns,
    calls,
    parallel: parallel.length > 0 ? parallel : undefined,
    moreInput: kind !== 'prompt' && thread.answer_due === 1,
    directive: directive ?? undefined,
    exceeded: budgetOf(thread)?.exceeded,
  };
}

/** Records that `after_thread_created` has run. Rejects with `ThreadNotFound`. */
export async function markGreeted(context: CommandContext, threadId: string): Promise<void> {
  await inThread(context, threadId, async (thread) => {
    if (thread.row.greeted !== 1) thread.set({ greeted: 1 });
  });
}

/** Stores what hooks asked for after their step or result was stored; writes nothing if they asked for nothing. */
export async function saveFlow(context: CommandContext, command: SaveFlow): Promise<void> {
  const { step, index, directive, context: scratch } = command;
  if (directive === undefined && scratch === undefined) return;
  await inRun(context, command, async (thread) => {
    const { execution_id: executionId } = await thread.read('steps', { step });
    await saveScratch(thread, executionId, scratch);
    if (directive === undefined) return;
    if (index === undefined) await thread.update('steps', { step }, { directive });
    else await thread.update('tool_calls', { step, idx: index }, { directive });
  });
}
