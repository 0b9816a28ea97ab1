/**
 * Pays for a tool that code invokes: it is a call like any other, but for its row.
 * I1. Its key is kept: whoever gives the command again, such as another attempt of an idempotent tool, pays once.
 */
import type { PaidCall, PayInvoked } from '../../port/budget.ts';
import { type CommandContext, inThread } from '../base/context.ts';
import { spend } from './spend.ts';

export async function payInvoked(
  context: CommandContext,
  { threadId, key, step }: PayInvoked,
): Promise<PaidCall> {
  return inThread(context, threadId, async (thread) => {
    if (thread.row.budget === null) return { kind: 'paid' };
    // I1: once.
    const isNew = await thread.trx
      .insertInto('budget_payments')
      .values({ thread_id: threadId, key })
      .onConflict((conflict) => conflict.doNothing())
      .returning('key')
      .executeTakeFirst();
    const denied = await spend(context, thread, isNew ? { maxToolCalls: 1 } : {}, { step });
    if (!denied) return { kind: 'paid' };
    if (isNew)
      await thread.trx
        .deleteFrom('budget_payments')
        .where('thread_id', '=', threadId)
        .where('key', '=', key)
        .execute();
    return { kind: 'exceeded', error: denied };
  });
}
