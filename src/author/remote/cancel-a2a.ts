/**
 * Cancels unwanted tasks of agents elsewhere: their call was stopped, cancelled or given up, or their thread has ended.
 * The store lists them (store/a2a/a2a-task.ts, T6), so any worker can do it: at the end of an execution, and
 * at its regular checks. Cancelling twice does no harm.
 */

import type { A2aAgentDefinition } from '../../core/author/a2a-agent.ts';
import { a2aToolName } from '../../core/project/a2a-agent.ts';
import {
  type A2aEndpoint,
  isA2aFailure,
  openRemote,
  TASK_NOT_CANCELABLE,
  TASK_NOT_FOUND,
} from '../../remote/a2a/index.ts';
import type { A2aTaskRecord } from '../../store/a2a/a2a-record.ts';
import type { StateDependencies } from '../state/dependencies.ts';
import { openEnv } from '../state/env.ts';
import { fillA2aReach, findRemoteTask } from './a2a-attempt.ts';

type Dependencies = Pick<StateDependencies, 'store' | 'registry'>;

/** Cancels unwanted tasks, of one thread if it is given. Returns how many; never rejects because of an agent. */
export async function cancelUnwantedTasks(
  dependencies: Dependencies,
  signal: AbortSignal,
  threadId?: string,
): Promise<number> {
  const { store, registry } = dependencies;
  // A project without agents elsewhere costs no read.
  if (registry().a2aAgents.size === 0) return 0;
  const unwanted = await store.a2a.listUnwanted(threadId);
  const done = await Promise.all(unwanted.map((record) => cancel(dependencies, record, signal)));
  return done.filter(Boolean).length;
}

async function cancel(
  dependencies: Dependencies,
  record: A2aTaskRecord,
  signal: AbortSignal,
): Promise<boolean> {
  const { store, registry } = dependencies;
  const { threadId, step, index } = record;
  const key = { threadId, step, index };
  const agent = registry().a2aAgents.get(record.agent);
  const isOver =
    agent !== undefined && (await cancelTask(dependencies, record, { agent, signal }).catch(() => false));
  await store.a2a.note({ ...key, ...(isOver ? { over: true } : { cancelFailed: true }) });
  return isOver;
}

interface Ending {
  readonly agent: A2aAgentDefinition;
  readonly signal: AbortSignal;
}

/** Cancels one task. Returns true if nothing is left to cancel. */
async function cancelTask(
  { store, registry }: Dependencies,
  record: A2aTaskRecord,
  { agent, signal }: Ending,
): Promise<boolean> {
  const thread = await store.threads.get(record.threadId);
  // Without an endpoint, nothing can have been sent.
  if (!thread || record.endpoint === null) return true;
  const env = openEnv({ store, registry }, thread, { signal });
  const tool = registry().tools.get(a2aToolName(agent.name));
  const reach = await fillA2aReach(agent, (name) => env.bind(tool).env(name));
  const remote = await openRemote(record.endpoint as A2aEndpoint, reach);
  try {
    // If the task's id is unknown, the agent is searched for the task: it may have received the message.
    const taskId = record.taskId ?? (await findRemoteTask({ agent, remote, signal }, record))?.id;
    if (taskId !== undefined) await remote.cancel({ contextId: record.contextId, taskId }, signal);
    return true;
  } catch (error) {
    if (!isA2aFailure(error)) throw error;
    return error.number === TASK_NOT_FOUND || error.number === TASK_NOT_CANCELABLE || error.number === 404;
  }
}
