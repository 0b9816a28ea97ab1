/**
 * `state.execution.messageHistory` when no request is being assembled (definitions §14.1): the stored conversation that
 * the code belongs to. Within a sub-prompt that is the sub-prompt's own; otherwise the newest messages of the thread.
 * Queued items are not part of it.
 */
import type { Message } from '../../core/message/message.ts';
import { toPublic } from '../../state/hooks/assembly-hooks.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { historyWindow } from '../model/history-window.ts';

/** `subprompt`: the step of the sub-prompt that the code runs in. */
export async function readMessageHistory(
  { store, registry }: Pick<ActivityDependencies, 'store' | 'registry'>,
  threadId: string,
  subprompt?: number,
): Promise<readonly Message[]> {
  if (subprompt !== undefined) {
    const { messages } = await store.steps.readContext(threadId, subprompt, historyWindow(registry()));
    return messages.map(toPublic);
  }
  return store.messages.recent(threadId);
}
