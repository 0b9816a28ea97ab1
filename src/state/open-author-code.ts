/**
 * The one opener for code of an author: its variables, a scope of the sandbox, the hooks around what it writes, its ThreadState,
 * and the end of them all. A tool, an effect, an endpoint and a hook differ in what they hand in here, and in nothing else.
 * O1. Opening costs memory alone: no read is made before a state is asked for, and hooks ask when the first of them runs.
 * O2. Code that runs within other code of the same work, as a tool does within its call, shares variables and hooks with it:
 *     a secret that either has read is taken out of what both write.
 * O3. The programs that the code runs in the sandbox, and functions that they returned, live until `close`, or until the signal fires.
 */
import type { PromptDefinition } from '../core/author/definition.ts';
import type { ThreadState } from '../core/author/thread-state.ts';
import type { ThreadRecord } from '../store/port/thread.ts';
import type { CallerContext } from './caller-context.ts';
import type { StateDependencies } from './dependencies.ts';
import { openEnv } from './env.ts';
import { loadChildren } from './family.ts';
import { type HookRunner, messageHooksOf, openHooks, openMessageHooks } from './hooks/runner.ts';
import type { RunningExecution } from './running-execution.ts';
import type { ThreadEnv } from './thread-env.ts';
import { createThreadState, openRelative } from './thread-state.ts';
import type { WorkSink } from './work-sink.ts';

export interface AuthorCodeOptions
  extends Pick<CallerContext, 'thread' | 'key' | 'signal' | 'work' | 'metadata'> {
  /** The active prompt, whose hooks run; that of the side which acts where absent. */
  readonly prompt?: PromptDefinition;
  /** The step that its hooks run in. Asked once, when the first of them runs; absent at rest. */
  readonly execution?: () => Promise<RunningExecution>;
  /** Until when its variables wait for a store that is away; `signal` where absent. */
  readonly waits?: AbortSignal;
  /** O2: shared with the code around it. */
  readonly within?: Pick<AuthorCode, 'env' | 'hooks'>;
}

/** What a tool's state has beyond that of an effect or an endpoint. */
export type ToolCallContext = Pick<CallerContext, 'execution' | 'tool' | 'idempotencyKey' | 'ask'>;

export interface AuthorCode {
  readonly env: ThreadEnv;
  readonly hooks: HookRunner;
  /** At rest where no place is given. Reads the thread's children, and may be asked again when that fails. */
  openState(place?: ToolCallContext): Promise<ThreadState>;
  /** The state of a thread of the family, which is at rest, to hand to a hook; `work` is where its work goes. */
  openRelative(relative: ThreadRecord, work: WorkSink): Promise<ThreadState>;
  close(): void;
}

export function openAuthorCode(dependencies: StateDependencies, options: AuthorCodeOptions): AuthorCode {
  const { within, prompt, execution, waits = options.signal, ...caller } = options;
  const { thread, signal } = caller;
  const env = within?.env ?? openEnv(dependencies, thread, { signal: waits, prompt });
  const scope = dependencies.sandbox.scope({ signal, tenant: thread.rootId });
  const parts = { env, runCode: scope.runCode };
  const hooks = within?.hooks ?? openHooks(dependencies, { ...caller, prompt, execution, parts });
  return {
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
