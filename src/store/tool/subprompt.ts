/** A sub-prompt's step (definitions §12.6): opened within a call of another step, and read when it is over. */
import type { Transaction } from 'kysely';
import type { FlowDirective } from '../../core/author/thread-execution.ts';
import type { AttachmentRef } from '../../core/message/message.ts';
import type { StoredError } from '../../core/thread/step.ts';
import { spend } from '../budget/spend.ts';
import { enqueueTools } from '../message/queue.ts';
import type { Tables } from '../schema/tables.ts';
import { describeStep } from '../step/describe-step.ts';
import { retryStep } from '../step/open-step.ts';
import { readCall } from '../transaction/call-row.ts';
import { type CommandContext, inRun, inSnapshot } from '../transaction/context.ts';
import { selectRows } from '../transaction/rows.ts';
import { byTime, selectStepMessages } from '../transaction/step-messages.ts';
import type { StepRow } from '../transaction/step-row.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import type { OpenedSubprompt, OpenSubprompt, StoredSubprompt, SubpromptCall } from './subprompt-record.ts';
import { findSubsteps, insertSubstep } from './substep.ts';

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
    const opened = known
      ? await resumeSubprompt(context, thread, { ...known, left: command.left })
      : await open(context, thread, command);
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
): Promise<OpenedSubprompt> {
  const { step: parentStep, prompt } = command;
  const denied = await spend(context, thread, { maxSteps: 1n }, { step: parentStep });
  if (denied) return { kind: 'exceeded', error: denied };
  const { call, step, place } = await insertSubstep(thread, command, 'open');
  const eventData = { prompt, parentStep, callId: call.call_id, depth: place.depth };
  thread.emit('step.started', eventData, { step, attempt: 1 });
  if (command.message) await thread.insertMessage({ ...command.message, role: 'user', ...place });
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
