/** Follows an execution in its thread's log to its end, for an MCP call that waits for it. */
import { followPages } from '../../client/follow-events.ts';
import type { RuntimeClient } from '../../client/runtime-client.ts';
import type { NamedFile } from '../../core/event/event-shape.ts';
import type { ThreadEvent } from '../../core/event/thread-event.ts';
import { parseRecord } from '../../core/value/record.ts';
import type { Wait } from '../../store/wait/wait-record.ts';

export type Ended =
  | {
      readonly kind: 'answered';
      readonly text: string;
      /** The value of an answer that has a type. */
      readonly output?: Readonly<Record<string, unknown>>;
      readonly files: readonly NamedFile[];
    }
  | { readonly kind: 'failed'; readonly error: string }
  /** `reportedSeq`: the log row up to which progress was reported. */
  | { readonly kind: 'waits'; readonly waits: readonly Wait[]; readonly reportedSeq: number };

export interface Followed {
  readonly threadId: string;
  readonly executionId: string;
  /** The log is read behind this row. */
  readonly after: number;
  /** Progress is reported for rows behind this one. */
  readonly reportedSeq: number;
}

export interface FollowTerms {
  readonly tell: (words: string) => void;
  /** Receives the blocking waits, maybe none, whenever the log has no more rows. False: the call ends with them. */
  readonly show?: ((waits: readonly Wait[]) => boolean) | undefined;
}

/** Undefined if the signal fires before the execution has ended. */
export async function followCall(
  client: RuntimeClient,
  { threadId, executionId, after, reportedSeq }: Followed,
  signal: AbortSignal,
  { tell, show }: FollowTerms,
): Promise<Ended | undefined> {
  const store = client.store;
  const files = new Map<string, NamedFile>();
  let isIn = false;
  let answer: string | undefined;
  let typed: string | undefined;
  let seq = after;
  for await (const page of followPages(store, threadId, { after, signal, marks: true })) {
    for (const event of page) {
      seq = event.seq;
      if (event.type === 'execution.started') isIn = event.data.executionId === executionId;
      if (event.type === 'thread.terminated') return { kind: 'failed', error: 'The thread was terminated.' };
      if (!isIn) continue;
      const words = progressText(event);
      if (words !== undefined && seq > reportedSeq) tell(words);
      if (event.type === 'file.created' || event.type === 'file.updated')
        files.set(event.data.path, event.data);
      if (event.type === 'file.deleted') files.delete(event.data.path);
      if (event.type === 'message.created' && event.data.role === 'assistant' && !event.data.depth)
        answer = event.data.messageId;
      if (event.type === 'step.committed' && event.data.typed) typed = event.data.messageId;
      if (event.type !== 'execution.ended' || event.data.executionId !== executionId) continue;
      const { status, error, reason } = event.data;
      if (status === 'failed')
        return { kind: 'failed', error: error ? `${error.code}: ${error.message}` : reason };
      // Stopped or terminated: what was said before is not the answer.
      if (status !== undefined) return { kind: 'failed', error: reason };
      const message = answer === undefined ? null : await store.messages.get(threadId, answer);
      const text = message?.content ?? '';
      const output = answer !== undefined && answer === typed ? parseRecord(text) : undefined;
      return { kind: 'answered', text, ...(output && { output }), files: [...files.values()] };
    }
    if (page.length > 0) continue;
    // An empty page: the end of the log for now.
    const waits = await blockingWaits(client, threadId);
    if (show?.(waits) === true || waits.length === 0) continue;
    return { kind: 'waits', waits, reportedSeq: seq };
  }
  return undefined;
}

export async function blockingWaits(client: RuntimeClient, threadId: string): Promise<readonly Wait[]> {
  return (await client.listWaits({ threadId })).filter(({ blocks }) => blocks);
}

function progressText(event: ThreadEvent): string | undefined {
  switch (event.type) {
    case 'step.started':
      return 'thinking';
    case 'tool.started':
      return `running ${event.data.name}`;
    case 'subagent.created':
      return 'asking a subagent';
    default:
      return undefined;
  }
}
