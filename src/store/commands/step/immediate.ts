/**
 * The calls that a side makes before its first model step (runtime §7.3): a step of queued tools in the place of the model's.
 * I1. Once for each key, in the transaction that opens the step. Input that waits for an answer goes on waiting: the next step
 *     asks the model.
 */
import type { BeginStep, ImmediateCalls } from '../../port/step.ts';
import type { ThreadTransaction } from '../base/thread-transaction.ts';
import { type DrainedTool, refuseTakenId, storeQueuedTool } from '../message/drain.ts';
import { openToolStep } from './open-step.ts';

/** The step's number; undefined where the acting side has none to make, or has made them. */
export async function openImmediateStep(
  thread: ThreadTransaction,
  command: BeginStep,
): Promise<number | undefined> {
  const calls = command.immediate?.[thread.row.side];
  const activated = JSON.parse(thread.row.activated) as string[];
  if (!calls || activated.includes(calls.key)) return undefined;
  // I1: once for each key.
  thread.set({ activated: JSON.stringify([...activated, calls.key]) });
  const tools = await storeCalls(thread, calls, command.executionId);
  if (tools.length === 0) return undefined;
  thread.set({ turn_open: 1 });
  return openToolStep(thread, command, tools, 'immediate');
}

async function storeCalls(
  thread: ThreadTransaction,
  { tools }: ImmediateCalls,
  executionId: string,
): Promise<DrainedTool[]> {
  const stored: DrainedTool[] = [];
  for (const { kind: _, ...tool } of tools) {
    if (await refuseTakenId(thread, tool.id)) continue;
    const metadata = { immediate: true };
    stored.push(await storeQueuedTool(thread, { ...tool, origin: 'code', metadata, executionId }));
  }
  return stored;
}
