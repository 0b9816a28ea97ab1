/**
 * The calls that a sub-prompt makes before its model step (runtime §7.3): a separate step within the same call. It is
 * committed as it opens, and has no answer: this distinguishes it from the step that the model answers.
 */
import { QUEUED_TOOL, toQueuedCall } from '../schema/pending-payload.ts';
import { describeStep } from '../step/describe-step.ts';
import { scheduleCalls } from '../step/schedule-calls.ts';
import { OPEN_CALL, readCall } from '../transaction/call-row.ts';
import { type CommandContext, inRun } from '../transaction/context.ts';
import type { ThreadTransaction } from '../transaction/thread-transaction.ts';
import type { OpenedImmediate, OpenImmediate } from './subprompt-record.ts';
import { findSubsteps, insertSubstep } from './substep.ts';

/**
 * Opens the step of the calls that come before the model step, or finds it; `stored` as long as one of them has no
 * result.
 */
export async function openImmediate(
  context: CommandContext,
  command: OpenImmediate,
): Promise<OpenedImmediate> {
  return inRun(context, command, async (thread) => {
    const { state } = await readCall(thread, command);
    const { immediate, answering } = await findSubsteps(thread.trx, thread.threadId, command);
    if (state === 'done' || state === 'unknown' || answering) return { kind: 'none' };
    if (!immediate && command.tools.length === 0) return { kind: 'none' };
    const step = immediate?.step ?? (await open(thread, command));
    if (immediate && !(await hasOpenCalls(thread, step))) return { kind: 'none' };
    return { kind: 'stored', record: await describeStep(thread, step) };
  });
}

async function open(thread: ThreadTransaction, command: OpenImmediate): Promise<number> {
  const { step, place } = await insertSubstep(thread, command, 'committed');
  const calls = command.tools.map((tool) => ({ id: tool.id, call: toQueuedCall(tool.id, tool) }));
  const metadata = { ...QUEUED_TOOL, immediate: true };
  for (const { id, call } of calls)
    await thread.insertMessage({
      id,
      role: 'assistant',
      content: null,
      toolCalls: [call],
      metadata,
      ...place,
    });
  const scheduled = calls.map(({ call }) => ({ callId: call.id, ...call.function, origin: 'code' as const }));
  await scheduleCalls(thread, step, scheduled, place.depth);
  return step;
}

async function hasOpenCalls(thread: ThreadTransaction, step: number): Promise<boolean> {
  const open = await thread
    .select('tool_calls', { step })
    .select('idx')
    .where('state', 'in', OPEN_CALL)
    .limit(1)
    .executeTakeFirst();
  return open !== undefined;
}
