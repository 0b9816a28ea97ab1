/**
 * Ends a step: committed with its answer, or failed with its reason (runtime §3.4).
 * C1. Only an open step can be ended; a later command finds what the first one stored.
 * C2. A sub-prompt's step only concerns the call that it answers. It does not change what belongs to the thread:
 *     unanswered input, the thread's last error.
 * C3. The model call that brought the answer ends in the transaction that stores it, even if too late: it was paid for.
 */
import { answerIdOf } from '../../core/message/answer-id.ts';
import type { ToolCall } from '../../core/message/message.ts';
import { roleOf } from '../../core/thread/session.ts';
import type { StoredError } from '../../core/thread/step.ts';
import { enqueueTools } from '../message/queue.ts';
import { readCall } from '../transaction/call-row.ts';
import { type CommandContext, inRun, inRunWith } from '../transaction/context.ts';
import type { StepRef } from '../transaction/from-run.ts';
import { forgetWarnings } from '../transaction/loop-warnings.ts';
import { selectRows } from '../transaction/rows.ts';
import { statement } from '../transaction/statement.ts';
import { closeStep, uncountAskedStep } from '../transaction/step-count.ts';
import { toSubprompt } from '../transaction/step-place.ts';
import { type StepRow, selectStep } from '../transaction/step-row.ts';
import type { NewMessageRow, ThreadTransaction } from '../transaction/thread-transaction.ts';
import { describeStep, toStepRecord } from './describe-step.ts';
import { type ScheduledCall, scheduleCalls } from './schedule-calls.ts';
import { keepScratch } from './scratch.ts';
import type { SubpromptPlace } from './step-place-record.ts';
import type { CommitStep, CommittedStep } from './step-record.ts';
import { selectModelCall, settleModelCall } from './stream.ts';

/** Stores the answer with its calls. A step ends once: a later caller receives what the first one stored. */
export async function commitStep(context: CommandContext, command: CommitStep): Promise<CommittedStep> {
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
      // Hooks of the drained messages gave their directive before those of the answer; the last one counts.
      const answer = { ...command, directive: command.directive ?? opened.directive ?? undefined };
      await storeAnswer(thread, answer, opened);
      const { kind, side } = opened;
      const { content, model, directive = null } = answer;
      const written = { step, kind, side, model, directive, text: hasText(content) ? 1 : 0 };
      const calls = answer.toolCalls.map((made) => made.function.name);
      return { kind: 'stored', record: toStepRecord(thread, written, calls) };
    },
  );
}

/** C1. `byOther`: another attempt has committed the step, not a repetition of this command. */
async function findCommitted(
  thread: ThreadTransaction,
  { step, attempt }: CommitStep,
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
  const { step, attempt, model, finishReason, usage, content } = answer;
  const { side, execution_id: executionId, first_seq: firstSeq } = opened;
  const subprompt = await toSubprompt(thread.trx, thread.threadId, opened);
  // C2: a sub-prompt has its own conversation.
  const role = subprompt ? 'assistant' : roleOf(side);
  const messageId = await storeMessage(thread, answer, { role, subprompt, executionId });
  await keepScratch(thread, executionId, answer.context);
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
  const more = { chunks, droppedCalls: dropped || undefined, depth: subprompt?.depth };
  thread.emit('step.committed', { messageId, model, finishReason, usage, ...more }, { step, attempt });
  const calls = answer.toolCalls.map((call, index) => toScheduledCall(call, repairs[index]));
  await scheduleCalls(thread, step, calls, subprompt?.depth);
  await enqueueTools(thread, answer.queuedTools);
  // C2: the thread's input stays unanswered.
  if (subprompt) return;
  thread.set({ answer_due: 0 });
  forgetWarnings(thread, { executionId, side });
}

interface AnswerPlace {
  readonly role: NewMessageRow['role'];
  readonly subprompt: SubpromptPlace | null;
  readonly executionId: string;
}

/** Returns the message's id. */
async function storeMessage(
  thread: ThreadTransaction,
  { messageId, step, ...answer }: CommitStep,
  { role, subprompt, executionId }: AnswerPlace,
): Promise<string> {
  const { content, toolCalls, metadata, silent, attachments, reasoning, parts, prompt } = answer;
  const id = messageId ?? answerIdOf(thread.threadId, step);
  await thread.insertMessage({
    ...{ id, role, content, toolCalls, metadata, silent, attachments, reasoning, parts, prompt },
    parentId: subprompt?.parentId,
    depth: subprompt?.depth,
    executionId,
    step,
  });
  return id;
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
    // C2: the error belongs to the call.
    if (kind !== 'prompt') thread.set({ last_error: JSON.stringify(error) });
    thread.emit('step.failed', { ...error }, { step, attempt });
    return { kind: 'closed' };
  });
}
