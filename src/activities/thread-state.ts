/**
 * The ThreadState that a running tool is given (seed 003): the thread's identity, its messages, its queue.
 * Tools that a tool queues travel with its result, in one transaction; messages are stored at once, under ids
 * derived from the call's key, so that a retry of an idempotent tool stores them once.
 */
import { createHash } from 'node:crypto';
import type { RunCode } from '../core/code-execution.ts';
import type { ToolDefinition } from '../core/definition.ts';
import type { ThreadState } from '../core/thread-state.ts';
import type { ThreadRecord } from '../store/port.ts';
import { checkArguments } from './check-arguments.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { findActiveSide } from './request.ts';
import { createThreadFiles } from './thread-files.ts';
import { createThreadValues } from './thread-values.ts';
import { runToolBody } from './tool-body.ts';
import type { ToolEnv } from './tool-env.ts';

export interface ToolPlace {
  readonly step: number;
  readonly index: number;
  readonly executionId: string;
}

export interface QueuedWork {
  readonly queuedTools: readonly { id: string; name: string; arguments: Readonly<Record<string, unknown>> }[];
  /** Messages that are in the store's queue already. */
  readonly queuedItems: number;
}

export interface StateInput {
  readonly thread: ThreadRecord;
  readonly place: ToolPlace;
  readonly signal: AbortSignal;
  readonly tool: ToolDefinition;
  readonly env: ToolEnv;
  readonly runCode: RunCode;
}

export function createThreadState(
  dependencies: ActivityDependencies,
  input: StateInput,
): { state: ThreadState; queued: () => QueuedWork } {
  const { store } = dependencies;
  const { thread, place, signal, tool, env, runCode } = input;
  const registry = dependencies.registry();
  const key = `${thread.id}:${place.step}:${place.index}`;
  const queuedTools: { id: string; name: string; arguments: Readonly<Record<string, unknown>> }[] = [];
  let made = 0;
  let queuedItems = 0;
  // The same for each attempt of this call, and for nobody to guess who might send an item under it.
  const nextId = () => createHash('sha256').update(`${store.id}:${key}:${made++}`).digest('hex').slice(0, 32);
  const state: ThreadState = {
    threadId: thread.id,
    agentId: thread.agent,
    userId: thread.userId,
    createdAt: thread.createdAt,
    terminated: thread.terminatedAt,
    arguments: thread.arguments,
    execution: { flowId: place.executionId, currentSide: 'a', stepCount: place.step, abortSignal: signal },
    idempotencyKey: key,
    options:
      findActiveSide(registry, thread.agent)?.prompt.tools.find(({ name }) => name === tool.name)?.options ??
      {},
    getMessages: (options) => store.getMessages(thread.id, options),
    getMessage: (id) => store.getMessage(thread.id, id),
    injectMessage: (message) => store.injectMessage(thread.id, nextId(), message, place.executionId),
    queueMessage: async ({ role = 'user', content, silent, metadata }) => {
      await store.queueItem(thread.id, { kind: 'message', id: nextId(), role, content, silent, metadata });
      queuedItems += 1;
    },
    queueTool: (name, args) => {
      const refusal =
        refuseReach(tool, name) ?? (registry.tools.has(name) ? undefined : `Tool not found: ${name}`);
      if (refusal) throw new Error(refusal);
      queuedTools.push({ id: nextId(), name, arguments: args });
    },
    invokeTool: async (name, args) => {
      const refusal = refuseReach(tool, name);
      const target = registry.tools.get(name);
      if (refusal || !target) return { status: 'error', error: refusal ?? `Tool not found: ${name}` };
      const checked = checkArguments(target, args);
      if (!checked.ok) return checked.result;
      const own = Object.freeze({ ...state, ...env.bind(target) });
      return (await env.refuse(target)) ?? runToolBody(target, own, checked.args);
    },
    runCode,
    ...createThreadValues(store, thread.id),
    ...createThreadFiles(store, thread.id),
    ...env.bind(tool),
  };
  return { state: Object.freeze(state), queued: () => ({ queuedTools, queuedItems }) };
}

/** `uses`, when declared, is the whole list of what a tool may reach (definitions §8). */
function refuseReach(tool: ToolDefinition, name: string): string | undefined {
  if (tool.uses === undefined || tool.uses.includes(name)) return undefined;
  return `Tool "${tool.name}" may not reach "${name}": add it to "uses".`;
}
