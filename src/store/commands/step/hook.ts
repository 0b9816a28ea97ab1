/** What is written for hooks (definitions §9): that a thread was greeted, and what they asked of the flow when all else was stored. */
import type { HookStore, KeepFlow } from '../../port/hook.ts';
import { type CommandContext, inThread } from '../base/context.ts';
import { readOwner } from '../base/step-place.ts';
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
  const { threadId, runId, step, index, directive, context: scratch } = command;
  await inThread(context, threadId, async (thread) => {
    if (thread.row.terminated_at !== null) return;
    await thread.admit(runId);
    const { executionId } = await readOwner(thread.trx, threadId, step);
    await keepScratch(thread, executionId, scratch);
    if (directive === undefined) return;
    if (index === undefined) {
      await thread.trx
        .updateTable('steps')
        .set({ directive })
        .where('thread_id', '=', threadId)
        .where('step', '=', step)
        .execute();
      return;
    }
    await thread.trx
      .updateTable('tool_calls')
      .set({ directive })
      .where('thread_id', '=', threadId)
      .where('step', '=', step)
      .where('idx', '=', index)
      .execute();
  });
}
