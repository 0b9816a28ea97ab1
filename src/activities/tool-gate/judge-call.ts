/**
 * Stages of a call that must be judged: what it asks for, and its beginning if it may begin. A call that had begun
 * before it came to the gate passes both: it was judged then, or its agent has no policy.
 */

import { retryWhileUnavailable } from '../../author/guard/retry-while-unavailable.ts';
import { mayRunHook } from '../../author/hooks/listed.ts';
import {
  type AskedAction,
  calleeOf,
  capabilitiesOf,
  findConfirms,
  findEvaluators,
  rulesFor,
} from '../../author/policy/asked-action.ts';
import { end, go, type Nothing, type Verdict } from '../../author/policy/gate.ts';
import type { Asked, Judged } from '../../author/policy/judge-action.ts';
import type { AuthorSchema } from '../../core/author/author-schema.ts';
import type { Registry, ToolDefinition } from '../../core/author/registry.ts';
import { NO_RULES, OWN_CAPABILITIES } from '../../core/governance/agent-policy.ts';
import { findActivePrompt } from '../../core/project/active-side.ts';
import { TASK_CAPABILITY } from '../../core/project/task-tool.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { BeginTool, BegunTool } from '../../store/tool/tool-record.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortSignal } from '../base/guard.ts';
import { parametersOf } from '../model/subagent-tools.ts';
import type { CallInfo, KnownCall, PendingCall } from './call-info.ts';
import type { ToolFrame } from './tool-frame.ts';

export type JudgePorts = Pick<ActivityDependencies, 'registry'>;

export async function askTool(
  { registry, store }: ActivityDependencies,
  { execution, tool, args }: ToolFrame & { readonly tool: ToolDefinition; readonly args: unknown },
): Promise<Verdict<Asked & { readonly signal: AbortSignal }, never>> {
  const { executionId, signal, thread } = execution;
  const what = { kind: 'tool.call', capabilities: capabilitiesOf(tool), args, executionId } as const;
  const asked = toAsked(registry(), execution, what);
  if (!asked) return go({ asked, signal });
  const prompt = findActivePrompt(registry(), thread.agent, execution);
  const callee = await calleeOf(store, tool, asked);
  return go({ asked: { ...asked, callee, tool, ...findConfirms(registry(), thread.agent, prompt) }, signal });
}

export function askPrompt(
  { registry }: JudgePorts,
  { execution, schema, args, executionId }: KnownCall & CheckedArguments & { readonly executionId: string },
) {
  const capabilities = [OWN_CAPABILITIES['prompt.call']];
  const what = { kind: 'prompt.call', capabilities, args, callee: takes(schema), executionId } as const;
  return go({ asked: toAsked(registry(), execution, what) });
}

export function askHandoff(
  { registry }: JudgePorts,
  { execution, schema, args }: ToolFrame & CheckedArguments,
) {
  const { executionId } = execution;
  return go({
    asked: toAskedAgent(registry(), execution, { args, callee: takes(schema), executionId }),
  });
}

interface CheckedArguments {
  readonly schema: AuthorSchema | undefined;
  readonly args: unknown;
}

/** A prompt as the callee of a call. */
export function takes(schema: AuthorSchema | undefined): AskedAction['callee'] {
  return { parameters: parametersOf(schema) };
}

/** The action of a call of an agent, whether it is a handoff or makes or messages a subagent. */
export function toAskedAgent(
  registry: Registry,
  info: CallInfo,
  what: Pick<AskedAction, 'args' | 'callee' | 'executionId'>,
): AskedAction | undefined {
  const capabilities = [OWN_CAPABILITIES['agent.call']];
  return toAsked(registry, info, { kind: 'agent.call', capabilities, ...what });
}

/** The action of a call that starts a task. */
export function toAskedTask(
  registry: Registry,
  info: CallInfo,
  what: Pick<AskedAction, 'args' | 'callee' | 'executionId'>,
): AskedAction | undefined {
  return toAsked(registry, info, { kind: 'tool.call', capabilities: [TASK_CAPABILITY], ...what });
}

/** Undefined for a call that has begun, or to which no policy applies and none has applied before its wait. */
function toAsked(
  registry: Registry,
  { pending, thread, call: { name, callId }, step, index, runContext, waits = [] }: CallInfo,
  what: Pick<AskedAction, 'kind' | 'capabilities' | 'args' | 'callee' | 'executionId'>,
): AskedAction | undefined {
  const wasAsked = waits.some(({ wait }) => wait.kind === 'approval');
  const rules = rulesFor(registry, thread.agent, runContext, name) ?? (wasAsked ? NO_RULES : undefined);
  if (!pending || !rules) return undefined;
  const id = `${thread.id}:${step}:${index}`;
  const evaluators = findEvaluators(registry, rules.policy, thread.agent);
  return { id, name, callId, rules, thread, runContext, step, signal: abortSignal(), ...evaluators, ...what };
}

/** A call that could not be begun: it is over, or another attempt has it. */
export interface NotBegun {
  readonly kind: 'not_begun';
  readonly begun: Exclude<BegunTool, { kind: 'run' }>;
}

/** Stage for any call with a place in a step: begins it, if it has not begun. */
export async function beginJudged(
  _ports: unknown,
  { execution: { pending }, action }: KnownCall & Judged,
): Promise<Verdict<Nothing, NotBegun>> {
  if (!pending) return go();
  const begun = await retryWhileUnavailable(abortSignal(), () => pending.begin(action));
  return begun.kind === 'run' ? go() : end({ kind: 'not_begun', begun });
}

/** Returns a function that decides whether a call is judged before it begins. */
export function judgesCalls({ registry }: JudgePorts): NonNullable<BeginTool['judges']> {
  return (agent, context, name) => rulesFor(registry(), agent, context, name) !== undefined;
}

/** Returns a function that decides whether a call begins within its gate, since it is judged or passes hooks before. */
export function beginsInGate(ports: JudgePorts): NonNullable<BeginTool['judges']> {
  const judges = judgesCalls(ports);
  return (agent, ...call) =>
    mayRunHook(ports.registry(), agent, 'before_tool_call') || judges(agent, ...call);
}

/** Empty if the call has begun. */
export function toPending(
  store: ThreadStore,
  { judges: _, history: __, ...command }: BeginTool,
  { unbegun }: Extract<BegunTool, { kind: 'run' }>,
): { pending?: PendingCall } {
  if (!unbegun) return {};
  let begun = false;
  let leftMs: number | undefined;
  const pending: PendingCall = {
    get begun() {
      return begun;
    },
    get leftMs() {
      return leftMs;
    },
    async begin(action) {
      const answer = await store.toolCalls.begin({ ...command, action });
      if (answer.kind === 'run') ({ leftMs } = answer);
      if (answer.kind === 'run') begun = true;
      return answer;
    },
  };
  return { pending };
}
