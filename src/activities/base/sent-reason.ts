/** Reads the reason that a client has stored before it signalled the id. */
import type { ThreadStore } from '../../store/store.ts';

interface Ended {
  readonly reason?: string;
  readonly stored?: string;
}

export async function readReason(
  store: Pick<ThreadStore, 'sent'>,
  threadId: string,
  { reason, stored }: Ended,
): Promise<string | undefined> {
  if (stored === undefined) return reason;
  const sent = await store.sent.read(threadId, stored);
  return typeof sent?.reason === 'string' ? sent.reason : reason;
}
