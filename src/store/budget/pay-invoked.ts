/**
 * Pays for a tool that code invokes: it counts like any other call, but has no row.
 * I1. The call's key is stored: a repeated command, as by another attempt of an idempotent tool, pays once.
 */
import { type CommandContext, inThread } from '../transaction/context.ts';
import type { PaidCall, PayInvoked } from './budget-record.ts';
import { spend } from './spend.ts';

/** Charges a call to the budgets of the thread's open execution; writes nothing if it has none. */
export async function payInvoked(
  context: CommandContext,
  { threadId, key, step }: PayInvoked,
): Promise<PaidCall> {
  return inThread(context, threadId, async (thread) => {
    if (thread.row.budget === null) return { kind: 'paid' };
    // I1: paid once.
    const isNew = await thread.insertNew('budget_payments', { key });
    const denied = await spend(context, thread, isNew ? { maxToolCalls: 1n } : {}, { step });
    if (!denied) return { kind: 'paid' };
    if (isNew) await thread.delete('budget_payments', { key });
    return { kind: 'exceeded', error: denied };
  });
}
