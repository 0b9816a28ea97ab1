/** What the log is told of an action: asked for, judged, and not done. */
import type { RecordAction, ToldAction } from '../../port/action.ts';
import { type CommandContext, inThread, refuseTerminated } from '../base/context.ts';
import type { ThreadTransaction } from '../base/thread-transaction.ts';

export async function recordAction(
  context: CommandContext,
  { threadId, told, step }: RecordAction,
): Promise<void> {
  await inThread(context, threadId, async (thread) => {
    refuseTerminated(thread);
    tellAction(thread, told, step);
  });
}

export function tellAction(
  thread: ThreadTransaction,
  { action: { id: actionId, name, ...action }, decision, denied }: ToldAction,
  step: number | undefined,
): void {
  const place = { step };
  thread.emit('action.requested', { actionId, name, ...action }, place);
  thread.emit('action.policy', { actionId, name, ...decision }, place);
  if (denied) thread.emit('action.denied', { actionId, name, ...denied }, place);
}
