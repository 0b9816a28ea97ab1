/**
 * From the state of one thread to that of its parent or child (definitions §14.3).
 * L1. A relative is at rest: its execution, scratch and tool call are not shown.
 * L2. What is queued to it is its own work, in its own queue, and wakes it.
 * L3. Secrets are known to the code, not to the thread: what it reads here is taken out of what it writes there.
 * L4. Each time that a relative is asked for, the ids of what is made through it are others, and the same for every attempt.
 * L5. What a tool may reach (`uses`) it may not reach by a detour either.
 * L6. Values are no thread's but its own (runtime §14.1.3): the state knows whose code it was opened for.
 */
import type { ThreadRecord } from '../store/port/thread.ts';
import type { CallerContext } from './caller-context.ts';
import { NO_HOOKS } from './hooks/message-hook-port.ts';
import type { StateParts } from './state-parts.ts';

export interface RelativeFrom
  extends Pick<
    CallerContext,
    'thread' | 'key' | 'signal' | 'work' | 'hooksOf' | 'tool' | 'reachingTool' | 'reachedFrom'
  > {
  readonly parts: StateParts;
}

export function toRelative(
  from: RelativeFrom,
  thread: ThreadRecord,
  times: number,
): { readonly caller: CallerContext; readonly parts: StateParts } {
  const { signal, hooksOf, tool, reachingTool = tool, reachedFrom = from.thread.id, parts: own } = from;
  // L3: secrets are the code's.
  const parts: StateParts = { env: own.env.of(thread), runCode: own.runCode };
  // L4: other ids at each asking.
  const key = `${from.key}:${thread.id}:${times}`;
  // L2: its own queue.
  const work = from.work.reach(thread.id);
  const hooks = hooksOf?.({ thread, key, signal, work, parts }) ?? NO_HOOKS;
  // L6: code stays that of the thread it began in, however many relatives it goes through.
  const caller = { thread, key, signal, work, hooks, hooksOf, reachingTool, reachedFrom, execution: null };
  return { caller, parts };
}
