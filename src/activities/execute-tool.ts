/** Runs a tool's body: is it allowed, are the arguments right, what did it return (definitions §12.4). */

import { parseArguments } from '../core/context.ts';
import type { Registry, ToolDefinition } from '../core/definition.ts';
import type { ToolResult } from '../core/message.ts';
import type { StoredToolCall, ThreadRecord } from '../store/port.ts';
import { type CheckedCall, checkArguments, refuseCall } from './check-arguments.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { findActiveSide } from './request.ts';
import { createThreadState, type QueuedWork, type ToolPlace } from './thread-state.ts';
import { runToolBody } from './tool-body.ts';
import { openToolEnv } from './tool-env.ts';

export interface ToolExecution {
  readonly call: StoredToolCall;
  readonly thread: ThreadRecord;
  readonly place: ToolPlace;
  readonly signal: AbortSignal;
}

export type ExecutedTool =
  | ({ readonly kind: 'executed'; readonly result: ToolResult } & QueuedWork)
  | { readonly kind: 'aborted' };

export async function executeTool(
  dependencies: ActivityDependencies,
  execution: ToolExecution,
): Promise<ExecutedTool> {
  const registry = dependencies.registry();
  const resolved = resolveCall(registry, execution);
  if (!resolved.ok) return { kind: 'executed', result: resolved.result, queuedTools: [], queuedItems: 0 };
  const { tool, args } = resolved;
  const env = openToolEnv(dependencies, execution.thread);
  const refusal = await env.refuse(tool);
  if (refusal) return { kind: 'executed', result: refusal, queuedTools: [], queuedItems: 0 };
  const abort = new AbortController();
  const signal = AbortSignal.any([execution.signal, abort.signal]);
  // Code that the tool runs, and functions that it returned, live as long as the call, however that ends.
  const scope = dependencies.sandbox.scope({ signal });
  const { runCode } = scope;
  const { state, queued } = createThreadState(dependencies, { ...execution, signal, tool, env, runCode });
  const timeout = Promise.withResolvers<ToolResult>();
  const timer = setTimeout(() => {
    abort.abort(new Error('timed out'));
    timeout.resolve({ status: 'error', error: timedOut(tool) });
  }, tool.timeoutMs);
  const aborted = Promise.withResolvers<'aborted'>();
  const onAbort = () => aborted.resolve('aborted');
  execution.signal.addEventListener('abort', onAbort, { once: true });
  if (execution.signal.aborted) onAbort();
  try {
    const result = await Promise.race([runToolBody(tool, state, args), timeout.promise, aborted.promise]);
    if (result === 'aborted') return { kind: 'aborted' };
    return { kind: 'executed', result: await env.redact(result), ...queued() };
  } finally {
    scope.close();
    clearTimeout(timer);
    execution.signal.removeEventListener('abort', onAbort);
  }
}

function timedOut(tool: ToolDefinition): string {
  return `"${tool.name}" did not answer within ${tool.timeoutMs} ms and was told to stop; it may or may not have taken effect.`;
}

function resolveCall(registry: Registry, { call, thread }: ToolExecution): CheckedCall {
  const tool = registry.tools.get(call.name);
  if (!tool) return refuseCall(`Tool not found: ${call.name}`);
  const offered = findActiveSide(registry, thread.agent)?.prompt.tools.some(({ name }) => name === call.name);
  // Code may reach any registered tool; models and signals only what the active prompt offers.
  if (call.origin !== 'code' && !offered)
    return refuseCall(`Tool "${call.name}" is not available to this prompt.`);
  const args = parseArguments(call.arguments);
  if (!args) return refuseCall('Tool argument validation failed: the arguments are not a JSON object.');
  return checkArguments(tool, args);
}
