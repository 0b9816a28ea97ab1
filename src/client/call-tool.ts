/**
 * Calls a tool from outside and waits for the outcome. The call is queued like any other, but no model step follows it.
 * Its result is found by the id of its item, so the same call under that id attaches to it, whether it is queued, waits
 * for a person or has ended.
 */
import type { Message } from '../core/message/message.ts';
import { RuntimeError } from '../core/value/error.ts';
import type { ThreadStore } from '../store/store.ts';
import type { Wait } from '../store/wait/wait-record.ts';
import type { ToolPayload } from '../workflows/messages.ts';
import { requireThread, terminatedError } from './known-thread.ts';

/** A tool call as `queueTool` takes it, without `unanswered`. */
export type ToolToCall = Omit<ToolPayload, 'unanswered'>;

/** The outcome of a call. */
export interface CalledTool {
  /** Id of the call's item; calling again with it returns the outcome of the same call. */
  readonly id: string;
  /** `waiting`: the thread waits for people (`waits`), and continues the call once they have answered. */
  readonly status: 'success' | 'error' | 'waiting';
  /** The tool's result, or its error text; null if there is none, and while the call waits. */
  readonly content: string | null;
  /** Error code, if the error has one: `ActionDenied`, `ApprovalRequired`, `BudgetExceeded`, or the tool's own. */
  readonly code?: string;
  /** Open waits that block the thread, oldest first. */
  readonly waits?: readonly Wait[];
}

export interface CallOptions {
  /** Milliseconds to wait for the outcome; 60,000 unless given. */
  readonly timeoutMs?: number;
}

interface SentCall {
  readonly threadId: string;
  readonly id: string;
  /** Number of the thread's last event before the call was sent. */
  readonly after: number;
  readonly timeoutMs: number;
}

/** Longest pause between two checks, for changes that the log does not show and threads that do not exist yet. */
const MAX_CHECK_PAUSE_MS = 1000;
const PAGE_SIZE = 100;

/** Throws `Timeout`, `ThreadTerminated`, or the code with which the thread refused the call. */
export async function awaitCall(store: ThreadStore, call: SentCall): Promise<CalledTool> {
  const { threadId, id, timeoutMs } = call;
  const deadline = performance.now() + timeoutMs;
  let seen = call.after;
  for (;;) {
    // Read first: an event after this read ends `awaitGrowth` below.
    const thread = await store.threads.get(threadId);
    const result = await findResult(store, call);
    if (result) return toCalledTool(id, result);
    if (thread?.terminatedAt != null) throw terminatedError(threadId);
    const open = thread?.status === 'waiting' ? await store.waits.list({ threadId }) : [];
    const waits = open.filter(({ blocks }) => blocks);
    if (waits.length > 0) return { id, status: 'waiting', content: null, waits };
    seen = await throwIfRejected(store, call, seen);
    if (performance.now() > deadline) throw await timeoutError(store, call);
    const withinMs = Math.min(Math.max(deadline - performance.now(), 0) + 1, MAX_CHECK_PAUSE_MS);
    await store.events.awaitGrowth(threadId, thread?.lastSeq ?? 0, { withinMs });
  }
}

/** Searches behind the call's own message, which is stored when its step begins. */
async function findResult(store: ThreadStore, { threadId, id }: SentCall): Promise<Message | undefined> {
  const asked = await store.messages.get(threadId, id);
  const callId = asked && asked.metadata.queued !== true ? callIdOf(asked) : undefined;
  if (callId === undefined) return undefined;
  for (let offset = 0; ; offset += PAGE_SIZE) {
    const page = { limit: PAGE_SIZE, offset, order: 'desc', includeSilent: true } as const;
    const { messages, hasMore } = await store.messages.list(threadId, page);
    for (const message of messages) {
      if (message.tool_call_id === callId) return message;
      if (message.id === id) return undefined;
    }
    if (!hasMore) return undefined;
  }
}

function callIdOf({ tool_calls: calls }: Message): string | undefined {
  const [call] = JSON.parse(calls ?? '[]') as { readonly id: string }[];
  return call?.id;
}

function toCalledTool(id: string, { tool_status: status, content, metadata }: Message): CalledTool {
  const { error_code: code } = metadata;
  return {
    id,
    status: status === 'success' ? 'success' : 'error',
    content,
    ...(typeof code === 'string' ? { code } : {}),
  };
}

/** Throws if an event rejects the call; returns the number of the last event that was read. */
async function throwIfRejected(
  store: ThreadStore,
  { threadId, id }: SentCall,
  after: number,
): Promise<number> {
  const events = await store.events.read(threadId, after);
  for (const { type, data } of events)
    if (type === 'item.rejected' && data.id === id)
      throw new RuntimeError(data.code, `The thread refused the call: ${data.reason}.`);
  return events.at(-1)?.seq ?? after;
}

async function timeoutError(
  store: ThreadStore,
  { threadId, id, timeoutMs }: SentCall,
): Promise<RuntimeError> {
  const { status, lastStep } = await requireThread(store, threadId);
  return new RuntimeError(
    'Timeout',
    `The call "${id}" of thread "${threadId}" has no result after ${timeoutMs} ms: the thread is "${status}" after step ${lastStep}. ` +
      'Call again with the same id; the call itself continues if a worker is running.',
  );
}
