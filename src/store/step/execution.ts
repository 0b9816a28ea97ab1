/**
 * The execution that a step belongs to: the open one, else a new one that begins with the step.
 *
 * A handoff (definitions §12.7): the agent that a tool call has named gets the thread when its step is over.
 * - Until then nothing changes: the step's other calls, and its stop rules, are those of the agent that asked.
 * - The last handoff of a step counts, and the input for an earlier one's agent is removed.
 * - An agent that gets the thread starts over, with its immediate subagents before its first model step
 *   (begin-step.ts): even one that has had the thread before.
 *
 * The scratch of an execution (`state.context`): stored with each commit, removed when the execution ends.
 */
import type { InferResult } from 'kysely';
import type { RunContext } from '../../core/governance/run-context.ts';
import type { MessageItem } from '../../core/thread/item.ts';
import type { JsonSchema } from '../../core/value/json-schema.ts';
import { causesOf, openBudget } from '../budget/account.ts';
import type { DueInput } from '../message/drain.ts';
import { dropQueued, enqueue } from '../message/queue.ts';
import { selectRows } from '../transaction/rows.ts';
import { toCancellation, toContextColumns } from '../transaction/run-context.ts';
import { statement } from '../transaction/statement.ts';
import { beginAsking } from '../transaction/step-count.ts';
import { pinTeam } from '../transaction/team-limit.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import { pinRounds } from './limit.ts';
import type { BeginStep } from './step-record.ts';

export const selectOpenExecution = statement((db, threadId: string) =>
  selectRows(db, 'executions', { thread_id: threadId, ended_at: null })
    .select(['id', 'context', 'run_context', 'cancel_request', 'produced', 'rejected', 'answer_type'])
    .limit(1),
);

export type OpenExecution = InferResult<ReturnType<typeof selectOpenExecution>>[number];

/** What an execution begins with: its context, its type, and a request to cancel it that came with all of its input. */
interface ExecutionStart {
  readonly context?: RunContext | null;
  readonly answerType?: JsonSchema | undefined;
  readonly canceled?: { readonly reason?: string; readonly by?: string } | null;
}

/** Stores the guards when an execution begins, or `handsOver` to another agent: they hold from then on. */
export function pinGuards(
  thread: ThreadTransaction,
  { rules }: Pick<BeginStep, 'rules'>,
  options: { readonly handsOver?: boolean } = {},
): void {
  const { rounds, team } = rules?.(thread.row.agent) ?? {};
  pinRounds(thread, rounds, options);
  pinTeam(thread, team, options);
}

/** Sets the thread running, in the open execution or in a new one with the given id. */
export async function setRunning(
  thread: ThreadTransaction,
  command: Pick<BeginStep, 'executionId' | 'rules'> & { readonly produced?: true },
  { open, due }: { readonly open: OpenExecution | undefined; readonly due: DueInput },
  { context = null, canceled = null, answerType }: ExecutionStart = {},
): Promise<void> {
  const { executionId, produced } = command;
  const { budget: definition, rounds, manifest, typed } = command.rules?.(thread.row.agent) ?? {};
  if (!open) {
    const given = context?.budget;
    await openBudget(thread, { executionId, definition, given, causes: causesOf(due.rows) });
  }
  if (!open && (await startExecution(thread, executionId, { context, canceled, answerType, produced }))) {
    beginAsking(thread);
    thread.emit('execution.started', {
      executionId,
      runId: context?.runId,
      produced,
      maxRounds: rounds?.a,
      manifest,
      typed: produced ? undefined : answerType ? true : typed,
    });
  }
  if (!open) pinGuards(thread, command);
  if (!open && thread.row.output !== null) thread.set({ output: null });
  if (thread.row.status === 'running') return;
  thread.set({ status: 'running', stop_reason: null, last_error: null });
  thread.emit('thread.status', { status: 'running' });
}

/** False if the execution exists already. */
async function startExecution(
  thread: ThreadTransaction,
  executionId: string,
  {
    context = null,
    canceled = null,
    answerType,
    produced,
  }: ExecutionStart & { readonly produced: true | undefined },
): Promise<boolean> {
  return thread.insertNew('executions', {
    id: executionId,
    started_at: thread.now,
    ...toContextColumns(context),
    agent: thread.row.agent,
    first_seq: thread.written.event_seq + 1,
    cancel_request: canceled && toCancellation(canceled, thread.now),
    streams: 1,
    produced: produced && 1,
    answer_type: answerType && JSON.stringify(answerType),
  });
}

/** `input` is the new agent's first input. Returns how many items were put in line. */
export async function saveHandoff(
  thread: ThreadTransaction,
  agent: string,
  input: MessageItem | undefined,
): Promise<number> {
  if (thread.row.next_agent !== null) await dropInput(thread);
  thread.set({ next_agent: agent });
  if (!input) return 0;
  const item: HandoffItem = { ...input, metadata: { ...input.metadata, handoff: agent }, handoffTo: agent };
  await enqueue(thread, item, { own: true });
  return 1;
}

/** Removes the input of an earlier handoff. */
async function dropInput(thread: ThreadTransaction): Promise<void> {
  const waiting = await thread
    .select('items', { state: 'queued', kind: 'message' })
    .select(['id', 'payload'])
    .execute();
  for (const { id, payload } of waiting) {
    const { handoffTo } = JSON.parse(payload) as Partial<HandoffItem>;
    if (handoffTo === thread.row.next_agent) await dropQueued(thread, id);
  }
}

/** Marks the input of a handoff: a field that, unlike metadata, no sender can write. */
interface HandoffItem extends MessageItem {
  readonly handoffTo: string;
}

/** Gives the thread to the named agent. */
export function applyHandoff(thread: ThreadTransaction): void {
  const { agent: from, next_agent: to } = thread.row;
  if (to === null) return;
  // Its first model step is yet to come.
  thread.set({ agent: to, next_agent: null, activated: '[]' });
  thread.emit('thread.agent', { from, to });
}

export async function saveScratch(
  thread: ThreadTransaction,
  executionId: string,
  context: string | undefined,
): Promise<void> {
  if (context === undefined) return;
  await thread.update('executions', { id: executionId }, { context });
}
