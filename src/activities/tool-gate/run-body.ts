/**
 * Stages: parse the arguments of a tool as JSON, run its body, and remove secrets from the result (definitions §12.4).
 */

import { performance } from 'node:perf_hooks';
import { withStack } from '../../author/guard/author-fault.ts';
import { createNotes } from '../../author/guard/code-note.ts';
import { retryWhileUnavailable } from '../../author/guard/retry-while-unavailable.ts';
import { openAuthorCode } from '../../author/open-author-code.ts';
import { end, go } from '../../author/policy/gate.ts';
import type { A2aOutcome } from '../../author/remote/a2a-attempt.ts';
import { runA2aCall } from '../../author/remote/a2a-call.ts';
import { refuseArguments } from '../../author/tool/check-arguments.ts';
import { runToolBody } from '../../author/tool/tool-body.ts';
import { describeArguments } from '../../core/answer/repair-arguments.ts';
import type { ToolDefinition } from '../../core/author/registry.ts';
import type { TracedWork } from '../../core/event/traced-row.ts';
import { refuseQuery } from '../../core/guard/status-query.ts';
import type { ToolResult } from '../../core/message/message.ts';
import { parseArguments } from '../../core/message/tool-call.ts';
import { LIMITS } from '../../core/value/limit.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { runUntilCut } from '../base/until-cut.ts';
import { toQueueError } from '../signals/relative-sink.ts';
import type { Sink } from '../signals/sink.ts';
import { openAsking } from './asking.ts';
import type { KnownCall } from './call-info.ts';
import type { ToolExecution, ToolFrame } from './tool-frame.ts';

/** The body was cut off before it answered: its call has no result. */
export interface AbortedCall {
  readonly kind: 'aborted';
}

/** The call's request to an agent elsewhere may or may not have been received; this stays unknown. */
export interface LostCall {
  readonly kind: 'lost';
}

export function parseToolArguments(_ports: unknown, { execution: { call } }: KnownCall) {
  const given = parseArguments(call.arguments);
  return given
    ? go({ given })
    : refuseArguments(`Tool argument validation failed: ${describeArguments(call.arguments)}.`);
}

interface CheckedCall extends ToolFrame {
  readonly tool: ToolDefinition;
  readonly args: unknown;
}

/** Runs the body within its time limit, until it is aborted. */
export async function runBody(dependencies: ActivityDependencies, { tool, args, ...frame }: CheckedCall) {
  const { execution, sink } = frame;
  if (tool.queriesTeam) return go({ result: await answerStatusQuery(dependencies, execution, args) });
  const { thread, step, index } = execution;
  const own = new AbortController();
  const asking = openAsking(dependencies, { ...frame, tool, own });
  const signal = AbortSignal.any([execution.signal, own.signal]);
  const key = `${thread.id}:${step}:${index}`;
  const code = openAuthorCode(dependencies, { thread, key, signal, work: sink.work, within: frame });
  const leftMs = execution.pending ? execution.pending.leftMs : execution.leftMs;
  const isLast = leftMs !== undefined && leftMs < tool.timeoutMs;
  const late = (): ToolResult => (isLast ? toCutOffResult(tool) : { status: 'error', error: timedOut(tool) });
  const begun = performance.now();
  const limit = { signal: execution.signal, timeoutMs: isLast ? leftMs : tool.timeoutMs, own, late };
  try {
    const context = { tool, idempotencyKey: key, execution: await frame.running(), ask: asking.ask };
    const state = await retryWhileUnavailable(signal, () => code.openState(context));
    const { recall } = asking;
    const about = { threadId: thread.id, code: 'tool', name: tool.name, step } as const;
    const note = createNotes({ store: dependencies.store, env: code.env, ...about });
    const place = { tasks: dependencies.store.a2a, storeId: dependencies.store.id, step, index };
    const askOrRun = (): Promise<A2aOutcome> =>
      tool.a2a
        ? runA2aCall({ agent: tool.a2a, state, args, recall, ...place })
        : runToolBody({ tool, state, args, work: key, recall, note });
    const { inSpan } = dependencies;
    const bodyOf = () => (inSpan ? inSpan(workOf(execution), askOrRun) : askOrRun());
    const result = await runUntilCut(limit, async () =>
      // The attempt ends when the body asks: what the body does afterwards is ignored.
      Promise.race([bodyOf().then((result) => settleSink(sink, result)), asking.asked]),
    );
    if (asking.waiting) return end(asking.waiting);
    if (result === 'aborted') return end({ kind: 'aborted' });
    if (!('kind' in result)) return go({ result });
    if (result.kind === 'later') return end({ ...result, name: tool.name });
    return end(result.kind === 'lost' ? result : { kind: 'aborted' });
  } finally {
    dependencies.load?.noteRun(tool, performance.now() - begun);
    code.close();
  }
}

/**
 * Removes secrets from the result, and reports a thrown error to the log. Texts are cut only after that: half of a
 * secret would not be found.
 */
export async function redactAnswer(
  { report }: ActivityDependencies,
  { tool, env, execution, result: answered }: CheckedCall & { readonly result: ToolResult },
) {
  const result = await env.redact(answered);
  if (result.status !== 'error' || result.stack === undefined) return go({ result });
  const { error = '', stack } = withStack(result.error ?? '', result.stack);
  const code = tool.runsCode ? 'run_code' : 'tool';
  const threadId = execution.thread.id;
  const work = workOf(execution);
  report?.({ code, name: tool.name, threadId, work, error: error.slice(0, LIMITS.faultChars), stack });
  return go({ result: { ...result, stack } });
}

const workOf = ({ thread, step, call }: ToolExecution): TracedWork => ({
  threadId: thread.id,
  step,
  callId: call.callId,
});

/** Waits until what the tool queued to other threads is stored; if that fails, the result is an error that says so. */
async function settleSink(sink: Sink, result: A2aOutcome): Promise<A2aOutcome> {
  if ('kind' in result) return result;
  try {
    await sink.settle();
    return result;
  } catch (error) {
    return result.status === 'error' ? result : { status: 'error', error: toQueueError(error).message };
  }
}

/** The result if the execution's budget of time is used up. */
function toCutOffResult({ name }: ToolDefinition): ToolResult {
  return {
    status: 'error',
    error: `"${name}" was cut off, because maxRuntimeSeconds of the budget is used up; it may or may not have taken effect.`,
    error_code: 'BudgetExceeded',
  };
}

function timedOut(tool: ToolDefinition): string {
  return `"${tool.name}" did not answer within ${tool.timeoutMs} ms and was told to stop; it may or may not have taken effect.`;
}

/** The body of `query_subagent_status`: answered from the store, as often as the limits of its turn allow. */
async function answerStatusQuery(
  { store }: ActivityDependencies,
  { thread, step, index }: Pick<ToolExecution, 'thread' | 'step' | 'index'>,
  args: unknown,
): Promise<ToolResult> {
  const { limits, earlier, subagents } = await store.children.readTeam(thread.id, { step, index });
  const refused = limits && refuseQuery(limits, earlier);
  if (refused) return { status: 'error', error: refused };
  const { agent_id: id } = args as { agent_id?: string };
  const asked = id === undefined ? subagents : subagents.filter((each) => each.agent_id === id);
  // A query that finds nothing is an error, and does not count against the limits.
  if (asked.length === 0)
    return {
      status: 'error',
      error:
        id === undefined
          ? 'You have not started any subagents.'
          : `You have not started a subagent ${JSON.stringify(id)}.`,
    };
  return { status: 'success', result: JSON.stringify({ subagents: asked }) };
}
