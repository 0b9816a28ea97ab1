/**
 * `state.execution.messageHistory` where no request is being assembled (definitions §14.1): the conversation that the code belongs to,
 * as it is stored. Within a sub-prompt that is its own; elsewhere the thread's, the newest as `getMessages` has them.
 */
import type { Message } from '../../core/message/message.ts';
import { toPublic } from '../../state/hooks/assembly-hooks.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { historyWindow } from '../model/history-window.ts';

/** `subprompt`: the sub-prompt's step. What waits in line is not history yet. */
export async function readMessageHistory(
  { store, registry }: Pick<ActivityDependencies, 'store' | 'registry'>,
  threadId: string,
  subprompt?: number,
): Promise<readonly Message[]> {
  if (subprompt !== undefined) {
    const { messages } = await store.steps.readContext(threadId, subprompt, historyWindow(registry()));
    return messages.map(toPublic);
  }
  const { messages } = await store.messages.list(threadId, { includeSilent: true });
  return messages.filter(({ status }) => status !== 'pending');
}
