/**
 * `state.execution.messageHistory` where no request is being assembled (definitions §14.1): the conversation that the code belongs to,
 * as it is stored. Within a sub-prompt that is its own; elsewhere the newest of the thread. What waits in line is not history yet.
 */
import type { Message } from '../../core/message/message.ts';
import { toPublic } from '../../state/hooks/assembly-hooks.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { historyWindow } from '../model/history-window.ts';

/** `subprompt`: the sub-prompt's step. */
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
