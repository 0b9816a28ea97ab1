/** Runs a tool's body: is it allowed, are the arguments right, what did it return (definitions §12.4). */
import { parseArguments } from '../core/context.ts';
import type { PromptDefinition, Registry, ToolDefinition } from '../core/definition.ts';
import type { ToolResult } from '../core/message.ts';
import { isSubagentCall } from '../core/subagent.ts';
import { type CheckedCall, checkArguments, refuseCall } from '../state/check-arguments.ts';
import { loadChildren } from '../state/family.ts';
import { messageHooksOf, openMessageHooks } from '../state/hooks/runner.ts';
import type { StateOrigin } from '../state/origin.ts';
import { outlast } from '../state/outlast.ts';
import { createThreadState } from '../state/thread-state.ts';
import { runToolBody } from '../state/tool-body.ts';
import type { CommitTool } from '../store/tool-port.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { findHandoff, handOver } from './handoff.ts';
import { refuseUnlisted } from './listed-call.ts';
import { notTaken } from './relative-sink.ts';
import type { Sink } from './sink.ts';
import type { ToolExecution, ToolFrame } from './tool-frame.ts';
import { withinTime } from './within-time.ts';

export type ExecutedTool =
  | {
      readonly kind: 'executed';
      readonly result: ToolResult;
      /** What is stored along with it. */
      readonly more?: Pick<CommitTool, 'nextAgent' | 'nextInput'>;
    }
  | { readonly kind: 'aborted' };

export async function executeTool(
  dependencies: ActivityDependencies,
  frame: ToolFrame,
): Promise<ExecutedTool> {
  const { execution, prompt, env, scratch } = frame;
  const agent = findHandoff(dependencies.registry(), execution.call.name);
  if (agent) return { kind: 'executed', ...(await handOver(dependencies, execution, { agent, scratch })) };
  const resolved = resolveCall(dependencies.registry(), execution, prompt);
  if (!resolved.ok) return { kind: 'executed', result: resolved.result };
  const { tool, args } = resolved;
  const refusal = await env.refuse(tool);
  if (refusal) return { kind: 'executed', result: refusal };
  return runWithin(dependencies, { frame, tool, args });
}

interface Run {
  readonly frame: ToolFrame;
  readonly tool: ToolDefinition;
  readonly args: unknown;
}

/** The body, within its time and until somebody aborts it. */
async function runWithin(dependencies: ActivityDependencies, run: Run): Promise<ExecutedTool> {
  const { frame, tool, args } = run;
  const { execution, env } = frame;
  const own = new AbortController();
  const signal = AbortSignal.any([execution.signal, own.signal]);
  // Code that the tool runs, and functions that it returned, live as long as the call, however that ends.
  const scope = dependencies.sandbox.scope({ signal, tenant: execution.thread.rootId });
  const origin = await toOrigin(dependencies, run, signal);
  const state = createThreadState(dependencies, origin, { env, runCode: scope.runCode });
  const late = (): ToolResult => ({ status: 'error', error: timedOut(tool) });
  const limit = { signal: execution.signal, timeoutMs: tool.timeoutMs, own, late };
  try {
    const result = await withinTime(limit, async () =>
      settled(frame.sink, await runToolBody(tool, state, args)),
    );
    if (result === 'aborted') return { kind: 'aborted' };
    return { kind: 'executed', result: await env.redact(result) };
  } finally {
    scope.close();
  }
}

/** What the tool queued to other threads is there before its result is, or the result says that it is not. */
async function settled(sink: Sink, result: ToolResult): Promise<ToolResult> {
  try {
    await sink.settle();
    return result;
  } catch (error) {
    return result.status === 'error' ? result : { status: 'error', error: notTaken(error).message };
  }
}

async function toOrigin(
  dependencies: ActivityDependencies,
  { frame, tool }: Run,
  signal: AbortSignal,
): Promise<StateOrigin> {
  const { execution, sink, hooks } = frame;
  const { thread, step, index } = execution;
  const key = `${thread.id}:${step}:${index}`;
  return {
    thread,
    key,
    signal,
    work: sink.work,
    tool,
    idempotencyKey: key,
    execution: await frame.place(),
    hooks: messageHooksOf(hooks),
    hooksOf: (place) => openMessageHooks(dependencies, place),
    children: await outlast(signal, () => loadChildren(dependencies.store, thread)),
  };
}

function timedOut(tool: ToolDefinition): string {
  return `"${tool.name}" did not answer within ${tool.timeoutMs} ms and was told to stop; it may or may not have taken effect.`;
}

const tooMany = (kind: string): string =>
  `Too many ${kind} were called in one answer: call this one again, in another.`;

function resolveCall(
  registry: Registry,
  { call }: ToolExecution,
  prompt: PromptDefinition | undefined,
): CheckedCall {
  const tool = registry.tools.get(call.name);
  // Dispatched as a tool, it was one of more than the workflow can be told of (LIMITS.laterPrompts, laterChildren).
  if (!tool && registry.prompts.has(call.name)) return refuseCall(tooMany('prompts'));
  if (isSubagentCall(registry, call.name)) return refuseCall(tooMany('subagents'));
  if (!tool) return refuseCall(`Tool not found: ${call.name}`);
  const refusal = refuseUnlisted(
    call,
    prompt?.tools.find(({ name }) => name === call.name),
  );
  if (refusal !== undefined) return refuseCall(refusal);
  const args = parseArguments(call.arguments);
  if (!args) return refuseCall('Tool argument validation failed: the arguments are not a JSON object.');
  return checkArguments(tool, args);
}
