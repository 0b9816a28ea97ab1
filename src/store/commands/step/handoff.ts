/**
 * A handoff (definitions §12.7): the agent that a tool call has named gets the thread when its step is over.
 * H1. Until then nothing changes: the step's other calls, and its stop rules, are those of the agent that asked.
 * H2. The last one of a step wins, and what an earlier one would have told its agent goes with it.
 * H3. Whoever gets the thread has its first model step before it, with the immediate subagents that come before that (immediate.ts):
 *     also an agent that has had the thread.
 */
import type { MessageItem } from '../../../core/thread/item.ts';
import type { ThreadTransaction } from '../base/thread-transaction.ts';
import { dropQueued, enqueue } from '../message/queue.ts';

/** `input` is the new agent's first. Answers how many items it put in line. */
export async function keepHandoff(
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

/** H2: an earlier handoff's input goes. */
async function dropInput(thread: ThreadTransaction): Promise<void> {
  const waiting = await thread.trx
    .selectFrom('items')
    .select(['id', 'payload'])
    .where('thread_id', '=', thread.threadId)
    .where('state', '=', 'queued')
    .where('kind', '=', 'message')
    .execute();
  for (const { id, payload } of waiting) {
    const { handoffTo } = JSON.parse(payload) as Partial<HandoffItem>;
    if (handoffTo === thread.row.next_agent) await dropQueued(thread, id);
  }
}

/** The mark of a handoff's input. It is a field of the item, which no sender can write, as anybody can write metadata. */
interface HandoffItem extends MessageItem {
  readonly handoffTo: string;
}

/** The agent that was named has the thread from now on. */
export function applyHandoff(thread: ThreadTransaction): void {
  const { agent: from, next_agent: to } = thread.row;
  if (to === null) return;
  // H3: it begins anew.
  thread.set({ agent: to, next_agent: null, activated: '[]' });
  thread.emit('thread.agent', { from, to });
}
