/**
 * A handoff (definitions §12.7): the agent that a tool call has named gets the thread when its step is over.
 * H1. Until then nothing changes: the step's other calls, and its stop rules, are those of the agent that asked.
 * H2. The last handoff of a step counts, and the input for an earlier one's agent is removed.
 * H3. An agent that gets the thread starts over, with its immediate subagents before its first model step
 *     (begin-step.ts): even one that has had the thread before.
 */
import type { MessageItem } from '../../core/thread/item.ts';
import { dropQueued, enqueue } from '../message/queue.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';

/** `input` is the new agent's first input. Returns how many items were put in line. */
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

/** H2: removes the input of an earlier handoff. */
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
  // H3: its first model step is yet to come.
  thread.set({ agent: to, next_agent: null, activated: '[]' });
  thread.emit('thread.agent', { from, to });
}
