/**
 * Writes on behalf of hooks (definitions §9): that the thread was greeted, and the directives that they gave after
 * their step or result was stored.
 */

import { updateCall } from '../transaction/call-row.ts';
import { type CommandContext, inRun, inThread } from '../transaction/context.ts';
import { readOwner } from '../transaction/step-place.ts';
import { updateStep } from '../transaction/step-row.ts';
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
  const { threadId, step, index, directive, context: scratch } = command;
  if (directive === undefined && scratch === undefined) return;
  await inRun(context, command, async (thread) => {
    const { executionId } = await readOwner(thread.trx, threadId, step);
    await keepScratch(thread, executionId, scratch);
    if (directive === undefined) return;
    if (index === undefined) await updateStep(thread, step, { directive });
    else await updateCall(thread, { step, idx: index }, { directive });
  });
}
