/**
 * A step within a call of another step (definitions §12.6): the model step of a sub-prompt, opened, and read when it is
 * over; and before it the step of the calls that the sub-prompt makes first (runtime §7.3), which is committed as it
 * opens and has no answer: this distinguishes it from the step that the model answers.
 * - The step has the (step, index) of the call, so a repeated command finds it. If its answer was rejected, another one asks again.
 * - The parent of the sub-prompt's messages is the id that the call's tool message will have (step-place.ts, P8).
 */
import type { Transaction } from 'kysely';
import type { FlowDirective } from '../../core/author/thread-execution.ts';
import type { AttachmentRef } from '../../core/message/message.ts';
import type { StoredError } from '../../core/thread/step.ts';
import { spend } from '../budget/spend.ts';
import { enqueueTools } from '../message/queue.ts';
import { QUEUED_TOOL, toQueuedCall } from '../schema/item-row.ts';
import type { Tables } from '../schema/tables.ts';
import { describeStep, insertStep, retryStep, scheduleCalls } from '../step/stored-step.ts';
import { type CommandContext, inRun, inSnapshot } from '../transaction/context.ts';
import type { CallKey } from '../transaction/from-run.ts';
import { selectRows } from '../transaction/rows.ts';
import {
  byTime,
  type CallRow,
  OPEN_CALL,
  readCall,
  type StepRow,
  selectStepMessages,
  updateCall,
} from '../transaction/step-row.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import type {
  OpenedImmediate,
  OpenedSubprompt,
  OpenImmediate,
  OpenSubprompt,
  StoredSubprompt,
  SubpromptCall,
} from './subprompt-record.ts';

/**
 * Opens the step that answers the call, or finds it: the same call again only counts another attempt at the step. The
 * call must have begun.
 */
export async function openSubprompt(
  context: CommandContext,
  command: OpenSubprompt,
): Promise<OpenedSubprompt> {
  return inRun(context, command, async (thread) => {
    const { state } = await readCall(thread, command);
    if (state === 'done' || state === 'unknown') return { kind: 'over' };
    const { answering: known } = await findSubsteps(thread.trx, thread.threadId, command);
    const asksAgain = known?.state === 'committed' && known.directive === 'rejected';
    const opened =
      known && !asksAgain
        ? await resumeSubprompt(context, thread, { ...known, left: command.left })
        : await open(context, thread, command, known?.rejected);
    // As in beginStep: the workflow learns of a call only from the commit that ends it.
    if (opened.kind === 'call') thread.relax();
    return opened;
  });
}

async function resumeSubprompt(
  context: CommandContext,
  thread: ThreadTransaction,
  { step, state, attempt, handed_over, left }: StepRow & Pick<OpenSubprompt, 'left'>,
): Promise<OpenedSubprompt> {
  if (state === 'committed') return { kind: 'stored', record: await describeStep(thread, step) };
  if (state !== 'open') return { kind: 'over' };
  return {
    kind: 'call',
    step,
    attempt: await retryStep(context, thread, { step, attempt, handed_over, left }),
  };
}

async function open(
  context: CommandContext,
  thread: ThreadTransaction,
  command: OpenSubprompt,
  rejected: string | null = null,
): Promise<OpenedSubprompt> {
  const { step: parentStep, prompt } = command;
  const denied = await spend(context, thread, { maxSteps: 1n }, { step: parentStep });
  if (denied) return { kind: 'exceeded', error: denied };
  const { call, step, place } = await insertSubstep(thread, { ...command, rejected }, 'open');
  const eventData = { prompt, parentStep, callId: call.call_id, depth: place.depth };
  thread.emit('step.started', eventData, { step, attempt: 1 });
  if (command.message && rejected === null)
    await thread.insertMessage({ ...command.message, role: 'user', ...place });
  await enqueueTools(thread, command.queuedTools);
  return { kind: 'call', step, attempt: 1 };
}

/** Null if the call has no step. */
export async function readSubprompt(
  context: CommandContext,
  threadId: string,
  step: number,
  index: number,
): Promise<StoredSubprompt | null> {
  return inSnapshot(context, async (db) => {
    const { answering: row } = await findSubsteps(db, threadId, { step, index });
    return row ? describeSubprompt(db, threadId, row) : null;
  });
}

async function describeSubprompt(
  db: Transaction<Tables>,
  threadId: string,
  row: StepRow,
): Promise<StoredSubprompt> {
  const found = await selectStepMessages(db, threadId, row.step)
    .select(['id', 'role', 'content', 'tool_call_id', 'attachments', 'created_at'])
    .where('role', 'in', ['assistant', 'tool'])
    .execute();
  const messages = found.sort(byTime);
  const calls = await selectRows(db, 'tool_calls', { thread_id: threadId, step: row.step })
    .select(['call_id', 'name', 'arguments', 'status', 'directive'])
    .orderBy('idx')
    .execute();
  const text = messages.find(({ id }) => id === row.message_id)?.content ?? null;
  const results = messages.filter(({ role }) => role === 'tool');
  const directive = calls.findLast((each) => each.directive)?.directive ?? toFlowDirective(row);
  return {
    text: row.directive === 'blocked' ? null : text,
    error: row.directive === 'blocked' ? toRefusal(text) : await readFailure(db, threadId, row),
    calls: calls.flatMap(({ call_id: id, name, arguments: text, status }): SubpromptCall[] => {
      const result = takeFirst(results, (message) => message.tool_call_id === id);
      return status && result ? [{ name, arguments: text, status, content: result.content ?? '' }] : [];
    }),
    attachments: messages.flatMap(({ attachments }) =>
      attachments ? (JSON.parse(attachments) as AttachmentRef[]) : [],
    ),
    directive: directive ?? undefined,
  };
}

/** A model may use a call id twice in one answer: each result belongs to the next such call. */
function takeFirst<T>(list: T[], fits: (each: T) => boolean): T | undefined {
  const index = list.findIndex(fits);
  return index < 0 ? undefined : list.splice(index, 1)[0];
}

/** A hook that refused the request has stopped only the sub-prompt: its caller gets the hook's text, and goes on. */
function toRefusal(reason: string | null): StoredError {
  return { code: 'Blocked', message: reason || 'a hook refused the request' };
}

function toFlowDirective({ directive }: StepRow): FlowDirective | null {
  switch (directive) {
    case 'blocked':
    case 'unanswered':
    case 'produced':
    case 'rejected':
      return null;
    default:
      return directive;
  }
}

/** The reason of a failed step is only in the log, where `failStep` wrote it. */
async function readFailure(
  db: Transaction<Tables>,
  threadId: string,
  { step, state, first_seq: firstSeq }: StepRow,
): Promise<StoredError | null> {
  if (state === 'committed') return null;
  const failed = await selectRows(db, 'events', { thread_id: threadId, type: 'step.failed', step })
    .select('data')
    .where('seq', '>', firstSeq)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  const { code, message } = (failed ? JSON.parse(failed.data) : {}) as Partial<StoredError>;
  return { code: code ?? 'Stopped', message: message ?? 'the prompt ended before it had an answer' };
}

interface Substeps {
  /** The calls that come before the model step. */
  readonly immediate?: StepRow;
  /** The step that the model answers. */
  readonly answering?: StepRow;
}

/** The steps of a call. Their numbers are higher than that of the call's step, so few rows are read. */
async function findSubsteps(
  trx: Transaction<Tables>,
  threadId: string,
  { step, index }: CallKey,
): Promise<Substeps> {
  const rows = await selectRows(trx, 'steps', { thread_id: threadId, parent_step: step, parent_idx: index })
    .selectAll()
    .where('step', '>', step)
    .execute();
  const isImmediate = (row: StepRow) =>
    row.state === 'committed' && row.message_id === null && row.directive !== 'rejected';
  const answering = rows.sort((one, other) => one.step - other.step).findLast((row) => !isImmediate(row));
  return { immediate: rows.find(isImmediate), answering };
}

interface OpenedSubstep {
  readonly call: CallRow;
  readonly step: number;
  /** The place of its messages. */
  readonly place: {
    readonly executionId: string;
    readonly step: number;
    readonly parent_id: string;
    readonly depth: number;
  };
}

type Substep = Pick<OpenSubprompt, 'step' | 'index' | 'prompt' | 'parentId' | 'arguments'> & {
  readonly rejected?: string | null;
};

async function insertSubstep(
  thread: ThreadTransaction,
  command: Substep,
  state: 'open' | 'committed',
): Promise<OpenedSubstep> {
  const { step: parentStep, index, prompt } = command;
  const call = await readCall(thread, command);
  const parentId = call.message_id ?? command.parentId;
  // The message's id is fixed from now on.
  if (call.message_id === null) await updateCall(thread, call, { message_id: parentId });
  const parent = await thread.read('steps', { step: parentStep });
  const depth = parent.depth + 1;
  const { execution_id: executionId } = parent;
  const step = await insertStep(thread, executionId, {
    kind: 'prompt',
    state,
    parent_step: parentStep,
    parent_idx: index,
    depth,
    prompt,
    arguments: JSON.stringify(command.arguments),
    rejected: command.rejected,
  });
  return { call, step, place: { executionId, step, parent_id: parentId, depth } };
}

/**
 * Opens the step of the calls that come before the model step, or finds it; `stored` as long as one of them has no
 * result.
 */
export async function openImmediate(
  context: CommandContext,
  command: OpenImmediate,
): Promise<OpenedImmediate> {
  return inRun(context, command, async (thread) => {
    const { state } = await readCall(thread, command);
    const { immediate, answering } = await findSubsteps(thread.trx, thread.threadId, command);
    if (state === 'done' || state === 'unknown' || answering) return { kind: 'none' };
    if (!immediate && command.tools.length === 0) return { kind: 'none' };
    const step = immediate?.step ?? (await openCalls(thread, command));
    if (immediate && !(await thread.has('tool_calls', { step, state: OPEN_CALL }))) return { kind: 'none' };
    return { kind: 'stored', record: await describeStep(thread, step) };
  });
}

async function openCalls(thread: ThreadTransaction, command: OpenImmediate): Promise<number> {
  const { step, place } = await insertSubstep(thread, command, 'committed');
  const calls = command.tools.map((tool) => ({ id: tool.id, call: toQueuedCall(tool) }));
  const metadata = { ...QUEUED_TOOL, immediate: true };
  for (const { id, call } of calls)
    await thread.insertMessage({
      id,
      role: 'assistant',
      tool_calls: JSON.stringify([call]),
      metadata,
      ...place,
    });
  const scheduled = calls.map(({ call }) => ({ callId: call.id, ...call.function, origin: 'code' as const }));
  await scheduleCalls(thread, step, scheduled, place.depth);
  return step;
}
