/** What a client stores before it starts or signals a workflow, apart from messages: the workflow gets the id. */
import { randomUUID } from 'node:crypto';
import type { ThreadStore } from '../store/store.ts';
import type { EndPayload } from '../workflows/messages.ts';
import type { NewThread } from './start-options.ts';

/** Longest reason that is kept, in characters. */
const REASON_CHARS = 500;

export async function storeReason(
  store: ThreadStore,
  threadId: string,
  reason: string | undefined,
): Promise<EndPayload> {
  if (typeof reason !== 'string' || reason === '') return {};
  const stored = randomUUID();
  await store.sent.save(threadId, stored, { reason: reason.slice(0, REASON_CHARS) });
  return { stored };
}

/** A start input of ids. */
export interface StoredStart extends Pick<NewThread, 'agent' | 'threadId' | 'userId'> {
  readonly stored?: string;
}

/** Stores what a new thread is created with. A cancelled context cancels its first messages, which have it. */
export async function storeStart(
  store: ThreadStore,
  { agent, threadId, userId, arguments: args, context, tags }: NewThread,
): Promise<StoredStart> {
  const ids = { agent, threadId, userId };
  const { canceled: _, cancelReason: __, ...standing } = context ?? {};
  const content = {
    ...(args ? { arguments: args } : {}),
    ...(Object.keys(standing).length > 0 ? { context: standing } : {}),
    ...(tags ? { tags } : {}),
  };
  if (Object.keys(content).length === 0) return ids;
  const stored = randomUUID();
  await store.sent.save(threadId, stored, content);
  return { ...ids, stored };
}
