/**
 * Hooks within one activity (definitions §9), with what they work with: variables, the sandbox, a place for what they queue,
 * and the flow. Costs nothing but memory until the first of them runs.
 */
import type { PromptDefinition } from '../core/definition.ts';
import { isRuntimeError } from '../core/error.ts';
import type { FlowDirective } from '../core/thread-execution.ts';
import type { ThreadState } from '../core/thread-state.ts';
import { openEnv, type ThreadEnv } from '../state/env.ts';
import { type HookRunner, openHooks } from '../state/hooks/runner.ts';
import type { ExecutionPlace } from '../state/origin.ts';
import type { Scratch } from '../state/scratch.ts';
import { openRelative } from '../state/thread-state.ts';
import type { ThreadStore } from '../store/port.ts';
import type { ThreadRecord } from '../store/thread-port.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { openSink, type Sink } from './sink.ts';

export interface HookWorkInput {
  readonly thread: ThreadRecord;
  readonly prompt?: PromptDefinition;
  /** As in StateOrigin. */
  readonly key: string;
  readonly signal: AbortSignal;
  /** Absent at rest. */
  readonly execution?: () => Promise<ExecutionPlace>;
}

export interface HookWork {
  readonly hooks: HookRunner;
  readonly env: ThreadEnv;
  readonly sink: Sink;
  /** The state of a child that was made just now and not started, to hand to a hook. */
  openNewChild(child: ThreadRecord): Promise<ThreadState>;
  /** Ends the code that hooks run in the sandbox. */
  close(): void;
}

export function openHookWork(dependencies: ActivityDependencies, input: HookWorkInput): HookWork {
  const { thread, prompt, signal } = input;
  const env = openEnv(dependencies, thread, { signal, prompt });
  const scope = dependencies.sandbox.scope({ signal, tenant: thread.rootId });
  const sink = openSink(dependencies, thread.id);
  const parts = { env, runCode: scope.runCode };
  const hooks = openHooks(dependencies, { ...input, work: sink.work, parts });
  const from = { ...input, work: { ...sink.work, reach: sink.reachUnstarted }, parts };
  return {
    hooks,
    env,
    sink,
    openNewChild: (child) => openRelative(dependencies, from, child),
    close() {
      scope.close();
      sink.end();
    },
  };
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
      for (const tool of tools) await store.queueItem(threadId, { kind: 'tool', ...tool, origin: 'code' });
      return tools.length;
    } catch (error) {
      // Whoever ended the thread has ended what was to come.
      if (isRuntimeError(error, 'ThreadTerminated')) return 0;
      throw error;
    }
  };
}
