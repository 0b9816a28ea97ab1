/**
 * Writes on behalf of hooks (definitions §9): that the thread was greeted, and the directives that they gave after
 * their step or result was stored.
 */
import type { KeepFlow } from '../../port/step.ts';
import { updateCall } from '../base/call-row.ts';
import { type CommandContext, inRun, inThread } from '../base/context.ts';
import { readOwner } from '../base/step-place.ts';
import { updateStep } from '../base/step-row.ts';
import { keepScratch } from './scratch.ts';

export async function markGreeted(context: CommandContext, threadId: string): Promise<void> {
  await inThread(context, threadId, async (thread) => {
    if (thread.row.greeted !== 1) thread.set({ greeted: 1 });
  });
}

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
