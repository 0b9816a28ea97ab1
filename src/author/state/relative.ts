/**
 * Derives the state of a parent or child from the state of a thread (definitions §14.3).
 * L1. A relative is shown at rest: without its execution, scratch and tool call.
 * L2. What is queued to a relative goes to its own queue, and wakes it.
 * L3. Known secrets belong to the code, not to a thread. What it reads in one thread is removed from what it writes to
 *     another.
 * L4. Each time a relative is opened, what is created through it gets other ids, which are equal in every attempt.
 * L5. A tool's `uses` also restrict what it reaches through a relative.
 * L6. Values belong to the thread's own code (runtime §14.1.3), so a state knows whose code it was opened for.
 * L7. Once the code has terminated its own thread, it queues and runs nothing in a relative either (runtime §10).
 */
import type { ThreadRecord } from '../../store/thread/thread-record.ts';
import { openLife } from '../guard/life.ts';
import { NO_HOOKS } from '../hooks/message-hook-port.ts';
import type { CallerContext } from './caller-context.ts';
import type { StateParts } from './state-parts.ts';

export interface RelativeFrom
  extends Pick<
    CallerContext,
    'thread' | 'key' | 'signal' | 'life' | 'work' | 'hooksOf' | 'tool' | 'reachingTool' | 'reachedFrom'
  > {
  readonly parts: StateParts;
}

export function toRelative(
  from: RelativeFrom,
  thread: ThreadRecord,
  times: number,
): { readonly caller: CallerContext; readonly parts: StateParts } {
  // L7: it ends with the code's own thread.
  const life = openLife(from.life);
  const { signal, hooksOf, tool, reachingTool = tool, reachedFrom = from.thread.id, parts: own } = from;
  // L3: known secrets are shared.
  const parts: StateParts = { env: own.env.of(thread), runCode: own.runCode };
  // L4: other ids each time.
  const key = `${from.key}:${thread.id}:${times}`;
  // L2: its own queue.
  const work = from.work.reach(thread.id);
  const hooks = hooksOf?.({ thread, key, signal, life, work, parts }) ?? NO_HOOKS;
  // L6: `reachedFrom` remains the thread whose code it is, however many relatives it passes through.
  const caller = {
    thread,
    key,
    signal,
    life,
    work,
    hooks,
    hooksOf,
    reachingTool,
    reachedFrom,
    execution: null,
  };
  return { caller, parts };
}
