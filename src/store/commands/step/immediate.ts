/**
 * The calls that a side makes before its first model step (runtime §7.3): a step of queued tools in place of the
 * model's.
 * I1. These calls come before the first model step of an agent's side and no later one, even if there were none. After
 *     a handoff the agent begins again (handoff.ts). Unanswered input stays unanswered: the next step calls the model.
 */
import type { BeginStep, ImmediateCalls } from '../../port/step.ts';
import type { ThreadTransaction } from '../base/thread-transaction.ts';
import { type DrainedTool, storeQueuedTool } from '../message/queued-tool.ts';
import { refuseTaken } from '../message/taken-id.ts';
import { openToolStep } from './open-step.ts';

/** Returns the step's number; undefined if the acting side has no such calls, or has had its first model step. */
export async function openImmediateStep(
  thread: ThreadTransaction,
  command: BeginStep,
): Promise<number | undefined> {
  const { agent, side } = thread.row;
  const key = `${agent}:${side}`;
  const activated = JSON.parse(thread.row.activated) as string[];
  if (activated.includes(key)) return undefined;
  // I1: marked even if there are none.
  thread.set({ activated: JSON.stringify([...activated, key]) });
  const calls = command.immediate?.[side];
  if (calls?.key !== key) return undefined;
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
  for (const { kind: _, ...tool } of await refuseTaken(thread, tools)) {
    const metadata = { immediate: true };
    stored.push(await storeQueuedTool(thread, { ...tool, origin: 'code', metadata, executionId }));
  }
  return stored;
}
