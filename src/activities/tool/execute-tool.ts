/** Runs a tool's body: is it allowed, are the arguments right, what did it return (definitions §12.4). */
import { parseArguments } from '../../core/context.ts';
import type { PromptDefinition, Registry, ToolDefinition } from '../../core/definition.ts';
import { LIMITS } from '../../core/limit.ts';
import type { ToolResult } from '../../core/message.ts';
import { isSubagentCall } from '../../core/subagent.ts';
import { withStack } from '../../state/author-fault.ts';
import { type CheckedCall, checkArguments, refuseCall } from '../../state/check-arguments.ts';
import { openAuthorCode } from '../../state/open-author-code.ts';
import { retryWhileUnavailable } from '../../state/retry-while-unavailable.ts';
import { runToolBody } from '../../state/tool-body.ts';
import type { CommitTool } from '../../store/port/tool.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { withinTime } from '../base/within-time.ts';
import { notTaken } from '../signals/relative-sink.ts';
import type { Sink } from '../signals/sink.ts';
import { findHandoff, handOver } from './handoff.ts';
import { refuseUnlisted } from './listed-call.ts';
import type { ToolExecution, ToolFrame } from './tool-frame.ts';

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
  const refusal = await env.refuseTool(tool);
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
  const { execution, env, sink } = frame;
  const own = new AbortController();
  const signal = AbortSignal.any([execution.signal, own.signal]);
  const { thread, step, index } = execution;
  const key = `${thread.id}:${step}:${index}`;
  const code = openAuthorCode(dependencies, { thread, key, signal, work: sink.work, within: frame });
  const late = (): ToolResult => ({ status: 'error', error: timedOut(tool) });
  const limit = { signal: execution.signal, timeoutMs: tool.timeoutMs, own, late };
  try {
    const place = { tool, idempotencyKey: key, execution: await frame.place() };
    const state = await retryWhileUnavailable(signal, () => code.openState(place));
    const result = await withinTime(limit, async () =>
      settled(sink, await runToolBody({ tool, state, args, work: key })),
    );
    if (result === 'aborted') return { kind: 'aborted' };
    return { kind: 'executed', result: tell(dependencies, run, await env.redact(result)) };
  } finally {
    code.close();
  }
}

/** A throw, for the log. Texts are cut here, since they have no secrets any more: half a one would not have been found. */
function tell({ report }: ActivityDependencies, { frame, tool }: Run, result: ToolResult): ToolResult {
  if (result.status !== 'error' || result.stack === undefined) return result;
  const { error = '', stack } = withStack(result.error ?? '', result.stack);
  const code = tool.runsCode ? 'run_code' : 'tool';
  const { thread } = frame.execution;
  report?.({ code, name: tool.name, threadId: thread.id, error: error.slice(0, LIMITS.faultChars), stack });
  return { ...result, stack };
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
