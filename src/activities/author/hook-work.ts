/**
 * Hooks within one activity (definitions §9), with what they need: variables, the sandbox, a sink for what they queue,
 * and the flow. Costs only memory until the first hook runs.
 */

import { isHookAborted } from '../../author/hooks/chain.ts';
import type { HookRunner } from '../../author/hooks/runner.ts';
import { type AuthorCode, type AuthorCodeOptions, openAuthorCode } from '../../author/open-author-code.ts';
import type { Scratch } from '../../author/tool/scratch.ts';
import type { FlowDirective } from '../../core/author/thread-execution.ts';
import type { ThreadState } from '../../core/author/thread-state.ts';
import { isRuntimeError } from '../../core/value/error.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { ThreadRecord } from '../../store/thread/thread-record.ts';
import type { QueuedTool } from '../../store/tool/tool-record.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortError } from '../base/guard.ts';
import { openSink, type Sink } from '../signals/sink.ts';

export type HookWorkInput = Omit<AuthorCodeOptions, 'work' | 'within'>;

export interface HookWork extends Pick<AuthorCode, 'hooks' | 'env' | 'life'> {
  readonly sink: Sink;
  /** The ThreadState of a child that was just made and not started, to pass to a hook. */
  openNewChild(child: ThreadRecord): Promise<ThreadState>;
  /** Ends the code that hooks run in the sandbox. */
  close(): void;
}

export function openHookWork(dependencies: ActivityDependencies, input: HookWorkInput): HookWork {
  const sink = openSink(dependencies, input.thread.id, { own: true });
  const { hooks, env, life, ...code } = openAuthorCode(dependencies, { ...input, work: sink.work });
  const unstarted = { ...sink.work, reach: sink.reachUnstarted };
  return {
    hooks,
    env,
    life,
    sink,
    openNewChild: (child) => code.openRelative(child, unstarted),
    close() {
      code.close();
      sink.end();
    },
  };
}

/**
 * Keeps hooks open while `use` runs. If hooks were cut off, the activity has been aborted: it was cancelled, or handed
 * over to another worker if `handover` has fired.
 */
export async function withHookWork<Work extends Pick<HookWork, 'close'>, T>(
  work: Work,
  handover: AbortSignal | undefined,
  use: (work: Work) => Promise<T>,
): Promise<T> {
  try {
    return await use(work);
  } catch (error) {
    if (isHookAborted(error)) throw abortError(handover);
    throw error;
  } finally {
    work.close();
  }
}

/** What hooks have asked of the flow since the previous call; part of a commit. */
export interface FlowChanges {
  readonly directive?: FlowDirective;
  /** The scratch as it is stored (author/tool/scratch.ts). */
  readonly context?: string;
}

/**
 * Returns a function that collects changes of the flow. What the scratch cannot keep is dropped, which is logged once
 * for each place. The outcome of the code is the same.
 */
export function watchFlow(log: Pick<HookRunner, 'note'>, scratch: Scratch): () => Promise<FlowChanges> {
  let kept: { directive?: FlowDirective; context: string } = { context: scratch.before };
  const noted = new Set<string>();
  return async () => {
    const { text: context = scratch.before, dropped } = scratch.write();
    for (const each of dropped.filter((place) => !noted.has(place))) {
      noted.add(each);
      await log.note(each);
    }
    const { directive } = scratch.flow;
    const changes: FlowChanges = {
      ...(directive !== undefined && directive !== kept.directive ? { directive } : {}),
      ...(context === kept.context ? {} : { context }),
    };
    kept = { directive, context };
    return changes;
  };
}

/** Returns the tools that hooks have queued so far, for the transaction that stores what the hooks have seen. */
export async function takeTools({
  hooks,
  sink,
}: Pick<HookWork, 'hooks' | 'sink'>): Promise<readonly QueuedTool[]> {
  await sink.settle().catch((error) => hooks.tell(null, error));
  return [...sink.taken().queuedTools];
}

/**
 * Returns a function that queues the tools that hooks have asked for since its previous call, and returns their number;
 * the first `stored` of them are already stored.
 */
export function queueTools(
  store: ThreadStore,
  threadId: string,
  sink: Sink,
  stored = 0,
): () => Promise<number> {
  return async () => {
    const tools = sink.taken().queuedTools.slice(stored);
    stored += tools.length;
    try {
      await sink.settle();
      for (const tool of tools)
        await store.queue.add(threadId, { kind: 'tool', ...tool, origin: 'code' }, { own: true });
      return tools.length;
    } catch (error) {
      // The thread has ended, so nothing more runs in it.
      if (isRuntimeError(error, 'ThreadTerminated')) return 0;
      throw error;
    }
  };
}
