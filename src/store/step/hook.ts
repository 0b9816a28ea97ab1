/**
 * Writes on behalf of hooks (definitions §9): that the thread was greeted, and the directives that they gave after
 * their step or result was stored.
 */

import { type CommandContext, inRun, inThread } from '../transaction/context.ts';
import { keepScratch } from './scratch.ts';
import type { KeepFlow } from './step-record.ts';

/** Records that `after_thread_created` has run. Rejects with `ThreadNotFound`. */
export async function markGreeted(context: CommandContext, threadId: string): Promise<void> {
  await inThread(context, threadId, async (thread) => {
    if (thread.row.greeted !== 1) thread.set({ greeted: 1 });
  });
}

/** Stores what hooks asked for after their step or result was stored; writes nothing if they asked for nothing. */
export async function keepFlow(context: CommandContext, command: KeepFlow): Promise<void> {
  const { step, index, directive, context: scratch } = command;
  if (directive === undefined && scratch === undefined) return;
  await inRun(context, command, async (thread) => {
    const { execution_id: executionId } = await thread.read('steps', { step });
    await keepScratch(thread, executionId, scratch);
    if (directive === undefined) return;
    if (index === undefined) await thread.update('steps', { step }, { directive });
    else await thread.update('tool_calls', { step, idx: index }, { directive });
  });
}
