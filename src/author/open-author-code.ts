/**
 * Opens and closes all that author code works with: its variables, a sandbox scope, the hooks around what it writes,
 * and its ThreadState. Tools, effects, endpoints and hooks differ only in the options that they pass here.
 * - Opening makes no read. Reads begin when a state is opened; hooks open theirs when the first of them runs.
 * - Code within other code of the same work, such as a tool within its call, shares its variables and hooks. So a
 *   secret that either has read is removed from what both write.
 * - Programs in the sandbox, and functions that they returned, live until `close` or until the signal fires.
 */
import type { PromptDefinition } from '../core/author/definition.ts';
import type { ThreadState } from '../core/author/thread-state.ts';
import type { ThreadRecord } from '../store/thread/thread-record.ts';
import { type Life, openLife } from './guard/life.ts';
import { type HookRunner, messageHooksOf, openHooks, openMessageHooks } from './hooks/runner.ts';
import type { CallerContext } from './state/caller-context.ts';
import type { StateDependencies } from './state/dependencies.ts';
import { openEnv } from './state/env.ts';
import { loadChildren } from './state/family.ts';
import type { RunningExecution } from './state/running-execution.ts';
import type { ThreadEnv } from './state/thread-env.ts';
import { createThreadState, openRelative } from './state/thread-state.ts';
import type { WorkSink } from './state/work-sink.ts';

export interface AuthorCodeOptions
  extends Pick<CallerContext, 'thread' | 'key' | 'signal' | 'work' | 'metadata'> {
  /** The active prompt, whose hooks run; default the prompt of the active side. */
  readonly prompt?: PromptDefinition;
  /** Returns the step that its hooks run in. Called once, when the first of them runs; absent at rest. */
  readonly execution?: () => Promise<RunningExecution>;
  /** Ends the waiting for an unreachable store when variables are read; default `signal`. */
  readonly waits?: AbortSignal;
  /** Variables and hooks of the surrounding code. */
  readonly within?: Pick<AuthorCode, 'env' | 'hooks' | 'life'>;
}

/** What a tool's state has beyond that of an effect or an endpoint. */
export type ToolCallContext = Pick<CallerContext, 'execution' | 'tool' | 'idempotencyKey' | 'ask'>;

export interface AuthorCode {
  /** One for all code of the same work. */
  readonly life: Life;
  readonly env: ThreadEnv;
  readonly hooks: HookRunner;
  /** Opens a state; at rest if `place` is absent. Reads the thread's children; can be called again if that fails. */
  openState(place?: ToolCallContext): Promise<ThreadState>;
  /** Opens the state of a relative, at rest, to pass it to a hook; `work` is the sink for its work. */
  openRelative(relative: ThreadRecord, work: WorkSink): Promise<ThreadState>;
  close(): void;
}

export function openAuthorCode(dependencies: StateDependencies, options: AuthorCodeOptions): AuthorCode {
  const { within, prompt, execution, waits = options.signal, ...given } = options;
  const { thread, signal } = given;
  const life = within?.life ?? openLife();
  const caller = { ...given, life };
  const env = within?.env ?? openEnv(dependencies, thread, { signal: waits, prompt });
  const scope = dependencies.sandbox.scope({
    signal: AbortSignal.any([signal, life.signal]),
    tenant: thread.rootId,
  });
  const parts = { env, runCode: scope.runCode };
  const hooks = within?.hooks ?? openHooks(dependencies, { ...caller, prompt, execution, parts });
  return {
    life,
    env,
    hooks,
    async openState(at = { execution: null }) {
      const children = await loadChildren(dependencies.store, thread);
      const around: Pick<CallerContext, 'hooks' | 'hooksOf' | 'guard'> = {
        ...(hooks.has('before_tool_call') && { guard: hooks.beforeToolCall }),
        hooks: messageHooksOf(hooks),
        hooksOf: (at) => openMessageHooks(dependencies, at),
      };
      return createThreadState(dependencies, { ...caller, ...at, ...around, children }, parts);
    },
    openRelative: (relative, work) => openRelative(dependencies, { ...caller, work, parts }, relative),
    close: () => scope.close(),
  };
}
