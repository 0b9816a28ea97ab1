/** What is written for hooks (definitions §9): that a thread was greeted, and what they asked of the flow when all else was stored. */
import type { HookStore, KeepFlow } from '../../port/hook.ts';
import { updateCall } from '../base/call-row.ts';
import { type CommandContext, inRun, inThread } from '../base/context.ts';
import { readOwner } from '../base/step-place.ts';
import { updateStep } from '../base/step-row.ts';
import { readPending } from '../message/pending.ts';
import { keepScratch } from './scratch.ts';

export function bindHooks(context: CommandContext): HookStore {
  return {
    readPending: (query) => readPending(context, query),
    markGreeted: (threadId) => markGreeted(context, threadId),
    keepFlow: (command) => keepFlow(context, command),
  };
}

async function markGreeted(context: CommandContext, threadId: string): Promise<void> {
  await inThread(context, threadId, async (thread) => {
    if (thread.row.greeted !== 1) thread.set({ greeted: 1 });
  });
}

async function keepFlow(context: CommandContext, command: KeepFlow): Promise<void> {
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
