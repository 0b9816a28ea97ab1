/**
 * Hooks within one activity (definitions §9), with what they work with: variables, the sandbox, a place for what they queue,
 * and the flow. Costs nothing but memory until the first of them runs.
 */

import type { FlowDirective } from '../../core/author/thread-execution.ts';
import type { ThreadState } from '../../core/author/thread-state.ts';
import { isRuntimeError } from '../../core/value/error.ts';
import { isHookAborted } from '../../state/hooks/chain.ts';
import type { HookRunner } from '../../state/hooks/runner.ts';
import { type AuthorCode, type AuthorCodeOptions, openAuthorCode } from '../../state/open-author-code.ts';
import type { Scratch } from '../../state/scratch.ts';
import type { ThreadRecord } from '../../store/port/thread.ts';
import type { ThreadStore } from '../../store/port/thread-store.ts';
import type { QueuedTool } from '../../store/port/tool.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortError } from '../base/guard.ts';
import { openSink, type Sink } from '../signals/sink.ts';

export type HookWorkInput = Omit<AuthorCodeOptions, 'work' | 'within'>;

export interface HookWork extends Pick<AuthorCode, 'hooks' | 'env'> {
  readonly sink: Sink;
  /** The state of a child that was made just now and not started, to hand to a hook. */
  openNewChild(child: ThreadRecord): Promise<ThreadState>;
  /** Ends the code that hooks run in the sandbox. */
  close(): void;
}

export function openHookWork(dependencies: ActivityDependencies, input: HookWorkInput): HookWork {
  const sink = openSink(dependencies, input.thread.id, { own: true });
  const { hooks, env, ...code } = openAuthorCode(dependencies, { ...input, work: sink.work });
  const unstarted = { ...sink.work, reach: sink.reachUnstarted };
  return {
    hooks,
    env,
    sink,
    openNewChild: (child) => code.openRelative(child, unstarted),
    close() {
      code.close();
      sink.end();
    },
  };
}

/**
 * Hooks at work for as long as `use` takes. Where they were cut off the activity has been aborted: cancelled, or handed over to another worker
 * where `handover` says so.
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

/** What hooks asked of the flow since this was asked last: part of a commit. */
export interface FlowChanges {
  readonly directive?: FlowDirective;
  /** The scratch, JSON text. */
  readonly context?: string;
}

/** A scratch that is no JSON stays as it was, and the log says so, once. */
export function watchFlow(
  hooks: HookRunner,
  scratch: Scratch,
  { told = false }: { told?: boolean } = {},
): () => Promise<FlowChanges> {
  let kept: { directive?: FlowDirective; context: string } = { context: scratch.before };
  let silent = told;
  return async () => {
    const written = scratch.write();
    if (!written.ok && !silent) {
      silent = true;
      await hooks.tell(null, written.error);
    }
    const context = written.ok ? (written.text ?? scratch.before) : kept.context;
    const { directive } = scratch.flow;
    const changes: FlowChanges = {
      ...(directive !== undefined && directive !== kept.directive ? { directive } : {}),
      ...(context === kept.context ? {} : { context }),
    };
    kept = { directive, context };
    return changes;
  };
}

/** What tools hooks have queued by now, for the transaction that stores what they have seen. */
export async function takeTools({
  hooks,
  sink,
}: Pick<HookWork, 'hooks' | 'sink'>): Promise<readonly QueuedTool[]> {
  await sink.settle().catch((error) => hooks.tell(null, error));
  return [...sink.taken().queuedTools];
}

/**
 * Puts in line what tools hooks have queued since it was called last; `stored` of them are stored already. Answers how many.
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
      // Whoever ended the thread has ended what was to come.
      if (isRuntimeError(error, 'ThreadTerminated')) return 0;
      throw error;
    }
  };
}
