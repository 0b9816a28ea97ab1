/**
 * The life of a tool call (runtime §5): scheduled → started → done | unknown.
 * T1. A body may begin only by the step scheduled → started, under an attempt's own name; so it begins at most
 *     once, unless the tool declares itself idempotent.
 * T2. A result is stored only by the attempt that holds the call; a later one becomes an event, never a second
 *     result.
 * T3. The beginning of an idempotent tool is relaxed: a database that crashes on a machine of its own may forget it
 *     while the body runs on. The call is scheduled again then and nobody else's, so its result is stored.
 */
import { randomUUID } from 'node:crypto';
import type { ToolResult, ToolStatus } from '../../core/message.ts';
import type { RestStatus } from '../../core/step.ts';
import type { BegunTool, CommitTool, CommittedTool, SettledTool, ToolCallKey } from '../port.ts';
import { toThreadRecord } from '../rows.ts';
import type { ThreadTransaction } from '../thread-transaction.ts';
import { type CommandContext, inThread } from './context.ts';
import { enqueue } from './queue.ts';

export const UNKNOWN_OUTCOME =
  'The outcome of this call is unknown: the process that ran the tool was lost after it began and before it ' +
  'reported. It may or may not have taken effect. Check before you repeat it.';

async function findCall(thread: ThreadTransaction, { step, index }: { step: number; index: number }) {
  return thread.trx
    .selectFrom('tool_calls')
    .selectAll()
    .where('thread_id', '=', thread.threadId)
    .where('step', '=', step)
    .where('idx', '=', index)
    .executeTakeFirstOrThrow();
}

type CallRow = Awaited<ReturnType<typeof findCall>>;

export async function beginTool(
  context: CommandContext,
  command: ToolCallKey & { readonly attempt: string; readonly idempotent: (name: string) => boolean },
): Promise<BegunTool> {
  return inThread(context, command.threadId, async (thread) => {
    if (thread.row.terminated_at !== null) return { kind: 'terminated' };
    await thread.admit(command.runId);
    const call = await findCall(thread, command);
    if (call.state === 'done' || call.state === 'unknown') return settled(call, call.state);
    const again = call.state === 'started' && call.attempt === command.attempt;
    const idempotent = command.idempotent(call.name);
    if (call.state === 'started' && !again && !idempotent) {
      return { kind: 'begun_elsewhere', name: call.name };
    }
    // Where T1 matters, the disk has it before the body begins.
    if (idempotent) thread.relax();
    if (!again) await start(thread, call, command.attempt);
    return {
      kind: 'run',
      call: { name: call.name, callId: call.call_id, arguments: call.arguments, origin: call.origin },
      thread: toThreadRecord(thread.row),
    };
  });
}

function settled(call: CallRow, state: 'done' | 'unknown') {
  return { kind: 'settled', name: call.name, state, status: call.status as ToolStatus } as const;
}

async function update(
  thread: ThreadTransaction,
  call: CallRow,
  changes: Partial<Pick<CallRow, 'state' | 'attempt' | 'status' | 'started_at' | 'ended_at'>>,
): Promise<void> {
  await thread.trx
    .updateTable('tool_calls')
    .set(changes)
    .where('thread_id', '=', thread.threadId)
    .where('step', '=', call.step)
    .where('idx', '=', call.idx)
    .execute();
}

async function start(thread: ThreadTransaction, call: CallRow, attempt: string): Promise<CallRow> {
  const started = { state: 'started' as const, attempt, started_at: thread.now };
  await update(thread, call, started);
  thread.emit('tool.started', { name: call.name, callId: call.call_id }, { step: call.step });
  return { ...call, ...started };
}

export async function commitTool(context: CommandContext, command: CommitTool): Promise<CommittedTool> {
  return inThread(context, command.threadId, async (thread) => {
    const found = await findCall(thread, command);
    // T3.
    const call = found.state === 'scheduled' ? await start(thread, found, command.attempt) : found;
    if (call.attempt !== command.attempt) {
      await reportLate(thread, call, command);
      return thread.row.terminated_at === null ? { kind: 'late' } : { kind: 'terminated' };
    }
    const queued = command.queuedTools.length;
    if (call.state !== 'started') return { kind: 'stored', queued };
    // A reset may have retired the run while the body ran: the result is true all the same, and the call is
    // still this attempt's. Storing it is what keeps the new run from having to call the outcome unknown.
    await storeResult(thread, call, command.result, 'done');
    for (const tool of command.queuedTools) {
      await enqueue(thread, { kind: 'tool', ...tool, origin: 'code' } as never);
    }
    return { kind: 'stored', queued };
  });
}

/** Once for each attempt: the one that comes late may be told so twice. */
async function reportLate(
  thread: ThreadTransaction,
  call: CallRow,
  { attempt, result }: CommitTool,
): Promise<void> {
  const reported = await thread.trx
    .selectFrom('events')
    .select('data')
    .where('thread_id', '=', thread.threadId)
    .where('type', '=', 'tool.late_result')
    .where('step', '=', call.step)
    .execute();
  if (reported.some(({ data }) => (JSON.parse(data) as { attempt: string }).attempt === attempt)) return;
  const content = toolContent(result).slice(0, 2000);
  thread.emit(
    'tool.late_result',
    { name: call.name, callId: call.call_id, status: result.status, result: content, attempt },
    { step: call.step },
  );
}

/**
 * Writes the one result of a call: the tool message, the call's end, the event. The message belongs to the
 * execution of its step, whichever run reports it.
 */
async function storeResult(
  thread: ThreadTransaction,
  call: CallRow,
  result: ToolResult,
  state: 'done' | 'unknown',
  metadata: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const { execution_id: executionId } = await thread.trx
    .selectFrom('steps')
    .select('execution_id')
    .where('thread_id', '=', thread.threadId)
    .where('step', '=', call.step)
    .executeTakeFirstOrThrow();
  await thread.insertMessage({
    // Not made from the call's ids: a sender may choose item ids, and two messages must not meet in one.
    id: randomUUID(),
    role: 'tool',
    content: toolContent(result),
    name: call.name,
    toolCallId: call.call_id,
    toolStatus: result.status,
    metadata,
    executionId,
    step: call.step,
  });
  await update(thread, call, { state, status: result.status, ended_at: thread.now });
  const type = state === 'unknown' ? 'tool.unknown' : 'tool.result';
  thread.emit(type, { name: call.name, callId: call.call_id, status: result.status }, { step: call.step });
}

/** What the model reads (definitions §12.4). */
export function toolContent(result: ToolResult): string {
  if (result.status === 'error') return `Failed to execute tool: ${result.error ?? 'no reason was given'}`;
  return result.result && result.result.length > 0
    ? result.result
    : 'The tool succeeded and returned nothing.';
}

export async function settleLostTool(context: CommandContext, command: ToolCallKey): Promise<SettledTool> {
  return inThread(context, command.threadId, async (thread) => {
    if (thread.row.terminated_at !== null) return { kind: 'terminated' };
    await thread.admit(command.runId);
    const call = await findCall(thread, command);
    switch (call.state) {
      case 'scheduled':
        return { kind: 'redispatch', name: call.name };
      case 'started': {
        const result: ToolResult = { status: 'error', error: UNKNOWN_OUTCOME };
        await settleCall(thread, call, result, 'unknown', { outcome: 'unknown' });
        return { kind: 'settled', name: call.name, state: 'unknown', status: 'error' };
      }
      case 'done':
      case 'unknown':
        return settled(call, call.state);
    }
  });
}

/** Ends every call of the thread that has no result yet, because its execution ends. */
export async function settleOpenCalls(thread: ThreadTransaction, status: RestStatus): Promise<void> {
  const stopped = status === 'stopped' || status === 'terminated';
  const error = stopped ? 'stopped' : 'the execution ended before this call had a result';
  const calls = await thread.trx
    .selectFrom('tool_calls')
    .selectAll()
    .where('thread_id', '=', thread.threadId)
    .where('state', 'in', ['scheduled', 'started'])
    .orderBy('step')
    .orderBy('idx')
    .execute();
  const metadata = stopped ? { stopped } : {};
  for (const call of calls) await settleCall(thread, call, { status: 'error', error }, 'done', metadata);
}

/** Gives a call a result that its attempt did not report; from now on that attempt is late (T2). */
async function settleCall(
  thread: ThreadTransaction,
  call: CallRow,
  result: ToolResult,
  state: 'done' | 'unknown',
  metadata: Readonly<Record<string, unknown>>,
): Promise<void> {
  await update(thread, call, { attempt: null });
  await storeResult(thread, call, result, state, metadata);
}
