/**
 * The hooks at the end of an execution (docs/hooks.md): however it ends, right before the transaction that stores the end. Where the thread is
 * terminated in the store, by a client or by code, they are told behind it.
 * H1. They have one key for the execution. Where the worker is lost while they run they run again, and the ids of what they make are
 *     the same; once it is stored nothing is open, and whoever asks again runs none. An execution that was terminated says whether they
 *     have run.
 * H2. A project that has none pays no read. One that cannot be read has none: its threads come to rest.
 */
import type { AgentEnd } from '../../core/author/hook.ts';
import { CANCELED } from '../../core/governance/cancellation.ts';
import type { CommitStatusInput } from '../../core/thread/step.ts';
import { definesHook } from '../../state/hooks/listed.ts';
import type { EndingExecution, ExecutionRecord } from '../../store/port/execution.ts';
import type { ThreadStore } from '../../store/port/thread-store.ts';
import { openHookWork, queueTools, withHookWork } from '../author/hook-work.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortSignal } from '../base/guard.ts';

type Ending = Pick<CommitStatusInput, 'threadId' | 'status' | 'reason' | 'error'>;

/** Answers of which execution they were told. */
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
  // H1: the same in every attempt.
  const key = `${threadId}:${execution.id}:end`;
  const work = openHookWork(dependencies, { thread, key, signal: abortSignal() });
  await withHookWork(work, undefined, async ({ hooks, sink }) => {
    if (!hooks.has('on_agent_end')) return;
    await hooks.agentEnded({ key, ...toEnd(input, execution), text: await readText(store, execution) });
    await queueTools(store, threadId, sink)();
  });
  // H1: told of a thread that has ended. One that lives says so by the end of its execution.
  if (execution.terminated) await store.executions.markEndTold(threadId, execution.id);
  await probe?.('execution_ending');
  return execution.id;
}

/** H2: the project may be unreadable. */
export function definesEndHook({ registry }: ActivityDependencies): boolean {
  try {
    return definesHook(registry(), 'on_agent_end');
  } catch {
    return false;
  }
}

/** As the store will tell it (store/commands/thread/end-execution.ts). */
function toEnd(
  { status, reason, error }: Ending,
  { id: executionId, canceled, terminated, stopReason }: EndingExecution,
): Omit<AgentEnd, 'key' | 'text'> {
  if (terminated) return { executionId, status: 'terminated', reason: stopReason ?? 'terminated' };
  if (canceled && status !== 'terminated') return { executionId, status: 'stopped', reason: CANCELED };
  return { executionId, status, reason: reason ?? status, ...(error && { error }) };
}

/** As many of the newest messages as are looked at: results of a last step stand behind its words. */
const NEWEST = 100;

async function readText(
  store: ThreadStore,
  { threadId, startedAt }: ExecutionRecord,
): Promise<string | null> {
  const { messages } = await store.messages.list(threadId, { limit: NEWEST, order: 'desc' });
  const said = messages.find(
    ({ role, content, created_at: at }) =>
      role === 'assistant' && at >= startedAt && content !== null && content.trim() !== '',
  );
  return said?.content ?? null;
}
