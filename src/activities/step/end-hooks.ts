/**
 * The hooks at the end of an execution (docs/hooks.md): they run however it ends, right before the transaction that
 * stores the end. If a client or code terminates the thread in the store, they run after that.
 * - The hooks have one key for each execution. If the worker is lost while they run, they run again, and the ids of
 *   what they make are the same. Once the end is stored no execution is open, and another call runs none. A
 *   terminated execution records whether they have run.
 * - A project without such hooks costs no read. A project that cannot be read counts as having none: its threads come
 *   to rest.
 */

import { definesHook } from '../../author/hooks/listed.ts';
import type { AgentEnd } from '../../core/author/hook.ts';
import { CANCELED } from '../../core/governance/cancellation.ts';
import type { CommitStatusInput } from '../../core/thread/step.ts';
import type { EndingExecution, ExecutionRecord } from '../../store/execution/execution-record.ts';
import type { ThreadStore } from '../../store/store.ts';
import { openHookWork, queueTools, withHookWork } from '../author/hook-work.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortSignal } from '../base/guard.ts';

type Ending = Pick<CommitStatusInput, 'threadId' | 'status' | 'reason' | 'error'>;

/** Returns the id of the execution for whose end the hooks ran; undefined if there is none. */
export async function runEndHooks(
  dependencies: ActivityDependencies,
  input: Ending,
): Promise<string | undefined> {
  const { store, probe } = dependencies;
  const { threadId } = input;
  if (!definesEndHook(dependencies)) return undefined;
  const execution = await store.executions.findEnding(threadId);
  if (!execution) return undefined;
  const thread = await store.threads.get(threadId);
  if (!thread) return undefined;
  // The same in every attempt.
  const key = `${threadId}:${execution.id}:end`;
  const work = openHookWork(dependencies, { thread, key, signal: abortSignal() });
  await withHookWork(work, undefined, async ({ hooks, sink }) => {
    if (!hooks.has('on_agent_end')) return;
    await hooks.agentEnded({ key, ...toEnd(input, execution), text: await readText(store, execution) });
    await queueTools(store, threadId, sink)();
  });
  // Recorded for a terminated thread. For any other, the stored end of its execution is the record.
  if (execution.terminated) await store.executions.markEndHooksRun(threadId, execution.id);
  await probe?.('execution_ending');
  return execution.id;
}

/** The project may be unreadable. */
export function definesEndHook({ registry }: ActivityDependencies): boolean {
  try {
    return definesHook(registry(), 'on_agent_end');
  } catch {
    return false;
  }
}

/** The end as the store will record it (store/thread/status.ts). */
function toEnd(
  { status, reason, error }: Ending,
  { id: executionId, canceled, terminated, stopReason }: EndingExecution,
): Omit<AgentEnd, 'key' | 'text'> {
  if (terminated) return { executionId, status: 'terminated', reason: stopReason ?? 'terminated' };
  if (canceled && status !== 'terminated') return { executionId, status: 'stopped', reason: CANCELED };
  return { executionId, status, reason: reason ?? status, ...(error && { error }) };
}

/** How many of the newest messages are searched: the results of a last step come after its text. */
const NEWEST = 100;

async function readText(
  store: ThreadStore,
  { threadId, startedAt }: ExecutionRecord,
): Promise<string | null> {
  const { messages } = await store.messages.list(threadId, { limit: NEWEST, order: 'desc' });
  const answer = messages.find(
    ({ role, content, created_at: at }) =>
      role === 'assistant' && at >= startedAt && content !== null && content.trim() !== '',
  );
  return answer?.content ?? null;
}
