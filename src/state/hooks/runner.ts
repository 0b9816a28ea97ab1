/**
 * The hooks of one piece of work (definitions §9): a step, a tool call, an effect, an endpoint. They are those that the active
 * prompt lists, or the agent, and they share one ThreadState, which is made when the first of them runs. What a hook writes
 * runs no hooks again.
 */
import type { PromptDefinition } from '../../core/definition.ts';
import type { HookName } from '../../core/hook.ts';
import type { ToolCall, ToolResult } from '../../core/message.ts';
import type { ThreadState } from '../../core/thread-state.ts';
import type { ThreadRecord } from '../../store/port/thread.ts';
import type { StateDependencies } from '../dependencies.ts';
import { loadChildren } from '../family.ts';
import { createIds } from '../id.ts';
import { type ExecutionPlace, type MessageHooks, NO_HOOKS, type WorkSink } from '../origin.ts';
import { createThreadState, type StateParts } from '../thread-state.ts';
import { createRequestHooks, type RequestHooks } from './assembly-hooks.ts';
import { createChain, type HookChain } from './chain.ts';
import { listHooks } from './listed.ts';
import { createMessageHooks, type RowHooks } from './message-hooks.ts';
import { afterToolCall, beforeStoreResult } from './tool-hooks.ts';

export interface HookPlace {
  readonly thread: ThreadRecord;
  /** The active prompt; the agent's own where absent. */
  readonly prompt?: PromptDefinition;
  /** Of the work around them, as in StateOrigin. */
  readonly key: string;
  readonly signal: AbortSignal;
  readonly work: WorkSink;
  /** The variables and the sandbox of the work around them. */
  readonly parts: StateParts;
  /** Absent at rest. Asked once, when the first hook runs; its Flow is the one of the work around. */
  readonly execution?: () => Promise<ExecutionPlace>;
  /** What the messages that they make tell of it. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface HookRunner extends RowHooks {
  has(...names: readonly HookName[]): boolean;
  /** At least one hook has run, and may have asked something of the flow. */
  readonly ran: boolean;
  threadCreated(): Promise<void>;
  /** On the parent's runner, once the child is there and before its first message is queued. */
  afterSubagentCreated(child: ThreadState): Promise<void>;
  /** Absent where there is no hook of the kind. */
  request(executionId: string): Partial<RequestHooks>;
  /** Null where a hook removed the call. */
  afterToolCall(call: ToolCall, result: ToolResult): Promise<ToolResult | null>;
  beforeStoreResult(call: ToolCall, result: ToolResult): Promise<ToolResult>;
  tell: HookChain['tell'];
}

export function openHooks(dependencies: StateDependencies, place: HookPlace): HookRunner {
  const { store } = dependencies;
  const { thread, prompt, signal, parts, execution } = place;
  const key = `${place.key}:hook`;
  let step: number | undefined;
  let state: Promise<ThreadState> | undefined;
  /** A child that was made meanwhile, by this very work. */
  let born: string | undefined;
  let ran = false;
  const open = async () => {
    ran = true;
    const within = execution ? await execution() : null;
    step = within?.step;
    const children = await loadChildren(store, thread, { made: born !== undefined });
    // A state that was made anew numbers what it makes anew.
    const own = born === undefined ? key : `${key}:${born}`;
    const origin = { ...place, key: own, execution: within, hooks: NO_HOOKS, children };
    return createThreadState(dependencies, origin, parts);
  };
  const chain = createChain({
    store,
    env: parts.env,
    threadId: thread.id,
    work: place.key,
    signal,
    timeoutMs: dependencies.hookMs,
    report: dependencies.report,
    hooks: listHooks(dependencies.registry(), thread, prompt),
    state: () => {
      state ??= open();
      // One that could not be made is asked for again.
      state.catch(() => {
        state = undefined;
      });
      return state;
    },
    step: () => step,
  });
  const files = { store, threadId: thread.id, nextId: createIds(store, `${key}:file`) };
  return {
    has: chain.has,
    tell: chain.tell,
    get ran() {
      return ran;
    },
    threadCreated: () =>
      chain.run('after_thread_created', undefined, { give: () => [], take: () => undefined }),
    async afterSubagentCreated(child) {
      born = child.threadId;
      state = undefined;
      await chain.run('after_subagent_created', undefined, {
        give: () => [child],
        take: () => undefined,
        live: true,
      });
    },
    request: (executionId) => createRequestHooks(chain, executionId, parts.env.redactKnown),
    afterToolCall: (call, result) => afterToolCall(chain, call, result),
    beforeStoreResult: (call, result) => beforeStoreResult(chain, call, result),
    ...createMessageHooks({ chain, files, redactKnown: parts.env.redactKnown }),
  };
}

/** The hooks around what code writes by its ThreadState; the same for tools, effects and endpoints. */
export function openMessageHooks(dependencies: StateDependencies, place: HookPlace): MessageHooks {
  const hooks = openHooks(dependencies, place);
  return messageHooksOf(hooks);
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
