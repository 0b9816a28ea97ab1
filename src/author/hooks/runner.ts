/**
 * The hooks of one piece of work (definitions §9): a step, a tool call, an effect, an endpoint. They are those that the
 * active prompt or the agent lists, and share one ThreadState, which is made when the first of them runs. What a hook
 * writes does not run hooks.
 */

import type { PromptDefinition } from '../../core/author/definition.ts';
import type { AgentEnd, HookMemory, HookName } from '../../core/author/hook.ts';
import type { ThreadState } from '../../core/author/thread-state.ts';
import type { ToolCall, ToolResult } from '../../core/message/message.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { ThreadRecord } from '../../store/thread/thread-record.ts';
import type { Life } from '../guard/life.ts';
import type { StateParts } from '../state/caller-context.ts';
import type { StateDependencies } from '../state/dependencies.ts';
import { loadChildren } from '../state/family.ts';
import { createIds } from '../state/id.ts';
import type { RunningExecution } from '../state/running-execution.ts';
import type { ThreadEnv } from '../state/thread-env.ts';
import { createThreadState } from '../state/thread-state.ts';
import type { WorkSink } from '../state/work-sink.ts';
import { createRequestHooks, type RequestHooks } from './assembly-hooks.ts';
import { type CallGuard, createCallGuard } from './call-guard.ts';
import { createChain, type HookChain } from './chain.ts';
import { listHooks } from './listed.ts';
import { type MessageHooks, NO_HOOKS } from './message-hook-port.ts';
import { createMessageHooks, type RowHooks } from './message-hooks.ts';
import { readResult } from './returned.ts';

export interface HookRunnerOptions {
  readonly thread: ThreadRecord;
  /** The active prompt; default that of the active side. */
  readonly prompt?: PromptDefinition;
  /** Key of the surrounding work, as in CallerContext. */
  readonly key: string;
  readonly signal: AbortSignal;
  readonly life: Life;
  readonly work: WorkSink;
  /** Variables and sandbox of the surrounding work. */
  readonly parts: StateParts;
  /** Returns the execution, with the surrounding work's Flow. Called once, when the first hook runs; absent at rest. */
  readonly execution?: () => Promise<RunningExecution>;
  /** Metadata that is added to messages which the hooks create. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface HookRunner extends RowHooks {
  has(...names: readonly HookName[]): boolean;
  /** True if at least one hook has run: it may have given the flow a directive. */
  readonly ran: boolean;
  threadCreated(): Promise<void>;
  /** `on_agent_end`. */
  agentEnded(end: AgentEnd): Promise<void>;
  /** Called on the parent's runner, after the child was made and before its first message is queued. */
  afterSubagentCreated(child: ThreadState): Promise<void>;
  /** Returns the hooks of a request; a member is absent if there is no hook of its kind. */
  request(executionId: string): Partial<RequestHooks>;
  /** Lets every call pass if there is no hook of the kind. */
  beforeToolCall: CallGuard;
  /** Returns null if a hook removed the call. */
  afterToolCall(call: ToolCall, result: ToolResult): Promise<ToolResult | null>;
  beforeStoreResult(call: ToolCall, result: ToolResult): Promise<ToolResult>;
  tell: HookChain['tell'];
  note: HookChain['note'];
}

export function openHooks(dependencies: StateDependencies, options: HookRunnerOptions): HookRunner {
  const { store } = dependencies;
  const { thread, prompt, signal, parts } = options;
  const shared = openSharedState(dependencies, options);
  const chain = createChain({
    store,
    env: parts.env,
    threadId: thread.id,
    work: options.key,
    signal,
    timeoutMs: dependencies.hookMs,
    report: dependencies.report,
    hooks: listHooks(dependencies.registry(), thread, prompt),
    state: shared.open,
    step: shared.step,
    memory: openMemory(store, parts.env, thread.id),
  });
  const files = { store, threadId: thread.id, nextId: createIds(store, `${options.key}:hook:file`) };
  return {
    has: chain.has,
    tell: chain.tell,
    note: chain.note,
    get ran() {
      return shared.opened();
    },
    threadCreated: () =>
      chain.run('after_thread_created', undefined, { give: () => [], take: () => undefined }),
    agentEnded: (end) => chain.run('on_agent_end', undefined, { give: () => [end], take: () => undefined }),
    async afterSubagentCreated(child) {
      shared.renew(child.threadId);
      await chain.run('after_subagent_created', undefined, {
        give: () => [child],
        take: () => undefined,
        live: true,
      });
    },
    request: (executionId) => createRequestHooks(chain, executionId, parts.env.redactKnown),
    beforeToolCall: createCallGuard(chain, parts.env),
    afterToolCall: (call, result) => afterToolCall(chain, call, result),
    beforeStoreResult: (call, result) => beforeStoreResult(chain, call, result),
    ...createMessageHooks({ chain, files, redactKnown: parts.env.redactKnown }),
  };
}

/** The ThreadState that all hooks of the work share, made when the first of them runs. */
interface SharedState {
  /** Opens the state, or returns the open one. After a failure, the next call tries again. */
  open(): Promise<ThreadState>;
  /** True once a hook has requested the state. */
  opened(): boolean;
  /** The step that the state was made in; undefined at rest. */
  step(): number | undefined;
  /** Called after this work has made a child: the next hook gets a new state that includes it. */
  renew(childId: string): void;
}

function openSharedState(dependencies: StateDependencies, options: HookRunnerOptions): SharedState {
  const { thread, parts, execution } = options;
  const key = `${options.key}:hook`;
  let step: number | undefined;
  let state: Promise<ThreadState> | undefined;
  let born: string | undefined;
  let asked = false;
  const make = async () => {
    asked = true;
    const within = execution ? await execution() : null;
    step = within?.step;
    const children = await loadChildren(dependencies.store, thread, { made: born !== undefined });
    // A new state counts its ids from 0 again, so it needs another key.
    const own = born === undefined ? key : `${key}:${born}`;
    const caller = { ...options, key: own, execution: within, hooks: NO_HOOKS, children };
    return createThreadState(dependencies, caller, parts);
  };
  return {
    open() {
      state ??= make();
      state.catch(() => {
        state = undefined;
      });
      return state;
    },
    opened: () => asked,
    step: () => step,
    renew(childId) {
      born = childId;
      state = undefined;
    },
  };
}

/** Opens the hooks around what code writes through its ThreadState; the same for tools, effects and endpoints. */
export function openMessageHooks(dependencies: StateDependencies, options: HookRunnerOptions): MessageHooks {
  return messageHooksOf(openHooks(dependencies, options));
}

export function messageHooksOf(hooks: HookRunner): MessageHooks {
  const listed = hooks.has(
    'before_create_message',
    'after_create_message',
    'before_update_message',
    'after_update_message',
  );
  return listed ? hooks.messages : NO_HOOKS;
}

/** Notes are cleared of secrets, like what a tool returns. */
function openMemory(store: ThreadStore, env: Pick<ThreadEnv, 'redact'>, threadId: string): HookMemory {
  return {
    async note({ asked, answered }, most) {
      const { result = '', error = '' } = await env.redact({
        status: 'success',
        result: asked,
        error: answered,
      });
      await store.memory.note(threadId, { asked: result, answered: error }, most);
    },
    recall: (within) => store.memory.recall(threadId, { within }),
  };
}

/**
 * The hooks of a tool call's result (definitions §9, §12.4): they replace it, recover a failure, or remove the call.
 * Returns null if a hook removed the call; the remaining hooks of its kind do not run.
 */
async function afterToolCall(
  chain: HookChain,
  call: ToolCall,
  result: ToolResult,
): Promise<ToolResult | null> {
  const name = result.status === 'success' ? 'after_tool_call_success' : 'after_tool_call_failure';
  return chain.run<ToolResult | null>(name, result, {
    give: (current) => [call, current],
    take: (current, returned) => {
      if (returned === undefined) return current;
      return returned === null ? null : readResult(returned);
    },
    ends: (current) => current === null,
  });
}

async function beforeStoreResult(chain: HookChain, call: ToolCall, result: ToolResult): Promise<ToolResult> {
  return chain.run('before_store_tool_result', result, {
    give: (current) => [call, current],
    take: (current, returned) =>
      returned === undefined || returned === null ? current : readResult(returned),
  });
}
