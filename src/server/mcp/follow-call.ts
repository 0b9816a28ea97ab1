/** An execution, read off its thread's log to its end, for the call of MCP that waits for it. */
import { storeOf } from '../../client/client-store.ts';
import { followPages } from '../../client/follow-events.ts';
import type { RuntimeClient } from '../../client/runtime-client.ts';
import type { NamedFile } from '../../core/event/event-data.ts';
import type { ThreadEvent } from '../../core/event/thread-event.ts';
import type { Wait } from '../../store/port/wait.ts';

export type Ended =
  | { readonly kind: 'answered'; readonly text: string; readonly files: readonly NamedFile[] }
  | { readonly kind: 'failed'; readonly error: string }
  /** `heard`: the row as far as what goes on was told. */
  | { readonly kind: 'waits'; readonly waits: readonly Wait[]; readonly heard: number };

export interface Followed {
  readonly threadId: string;
  readonly executionId: string;
  /** The row behind which it begins. */
  readonly after: number;
  /** The row behind which it is told what goes on. */
  readonly heard: number;
}

export interface FollowTerms {
  readonly tell: (words: string) => void;
  /** What is open now, nothing too, each time that the log has no more for now. False: the call ends with it. */
  readonly show?: ((waits: readonly Wait[]) => boolean) | undefined;
}

/** Undefined where it is left before its end. */
export async function followCall(
  client: RuntimeClient,
  { threadId, executionId, after, heard }: Followed,
  signal: AbortSignal,
  { tell, show }: FollowTerms,
): Promise<Ended | undefined> {
  const store = storeOf(client);
  const files = new Map<string, NamedFile>();
  let isIn = false;
  let answer: string | undefined;
  let seq = after;
  for await (const page of followPages(store, threadId, { after, signal, marks: true })) {
    for (const event of page) {
      seq = event.seq;
      if (event.type === 'execution.started') isIn = event.data.executionId === executionId;
      if (event.type === 'thread.terminated') return { kind: 'failed', error: 'The thread was terminated.' };
      if (!isIn) continue;
      const words = wordsOf(event);
      if (words !== undefined && seq > heard) tell(words);
      if (event.type === 'file.created' || event.type === 'file.updated')
        files.set(event.data.path, event.data);
      if (event.type === 'file.deleted') files.delete(event.data.path);
      if (event.type === 'message.created' && event.data.role === 'assistant' && !event.data.depth)
        answer = event.data.messageId;
      if (event.type !== 'execution.ended' || event.data.executionId !== executionId) continue;
      const { status, error, reason } = event.data;
      if (status === 'failed')
        return { kind: 'failed', error: error ? `${error.code}: ${error.message}` : reason };
      if (status === 'stopped') return { kind: 'failed', error: reason };
      const message = answer === undefined ? null : await store.messages.get(threadId, answer);
      return { kind: 'answered', text: message?.content ?? '', files: [...files.values()] };
    }
    if (page.length > 0) continue;
    // Once the log has no more for now.
    const waits = await blockingWaits(client, threadId);
    if (show?.(waits) === true || waits.length === 0) continue;
    return { kind: 'waits', waits, heard: seq };
  }
  return undefined;
}

export async function blockingWaits(client: RuntimeClient, threadId: string): Promise<readonly Wait[]> {
  return (await client.listWaits({ threadId })).filter(({ blocks }) => blocks);
}

function wordsOf(event: ThreadEvent): string | undefined {
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
