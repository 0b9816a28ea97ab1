/**
 * Stages of a call that is to be judged: what its agent's policy says of it, and its beginning where it may be. A call that had begun
 * before it came to the gate passes both: it was judged then, or its agent has no policy.
 */
import type { Registry, ToolDefinition } from '../../core/author/definition.ts';
import { type ActionKind, OWN_CAPABILITIES } from '../../core/governance/agent-policy.ts';
import type { AnsweredCall } from '../../state/check-arguments.ts';
import { end, go, type Nothing, type Verdict } from '../../state/gate.ts';
import { capabilitiesOf, type Judged, judgeAction } from '../../state/judge-action.ts';
import { retryWhileUnavailable } from '../../state/retry-while-unavailable.ts';
import type { BegunTool, ThreadStore } from '../../store/port/thread-store.ts';
import type { BeginTool } from '../../store/port/tool.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortSignal } from '../base/guard.ts';
import type { CallInfo, KnownCall, PendingCall } from './call-info.ts';

export type JudgePorts = Pick<ActivityDependencies, 'registry'>;
export type Judgement = Verdict<Judged, AnsweredCall>;

export function judgeTool(
  { registry }: JudgePorts,
  { execution, tool }: KnownCall & { readonly tool: ToolDefinition },
): Judgement {
  return judgeCall(registry(), execution, 'tool.call', capabilitiesOf(tool));
}

export function judgePrompt({ registry }: JudgePorts, { execution }: KnownCall): Judgement {
  return judgeCall(registry(), execution, 'prompt.call', [OWN_CAPABILITIES['prompt.call']]);
}

export function judgeHandoff({ registry }: JudgePorts, { execution }: KnownCall): Judgement {
  return judgeCall(registry(), execution, 'agent.call', [OWN_CAPABILITIES['agent.call']]);
}

export function judgeCall(
  registry: Registry,
  { pending, thread, call, step, index }: CallInfo,
  kind: ActionKind,
  capabilities: readonly string[],
): Judgement {
  if (!pending) return go({ action: undefined });
  const id = `${thread.id}:${step}:${index}`;
  const { name, callId } = call;
  return judgeAction(registry.agents.get(thread.agent)?.policy, { id, kind, name, callId, capabilities });
}

/** A call that could not be begun: it is over, or another attempt has it. */
export interface NotBegun {
  readonly kind: 'not_begun';
  readonly begun: Exclude<BegunTool, { kind: 'run' }>;
}

/** Of any call with a place in a step. */
export async function beginJudged(
  _ports: unknown,
  { execution: { pending }, action }: KnownCall & Judged,
): Promise<Verdict<Nothing, NotBegun>> {
  return beginPending(pending, action);
}

export async function beginPending(
  pending: PendingCall | undefined,
  action: Judged['action'],
): Promise<Verdict<Nothing, NotBegun>> {
  if (!pending) return go();
  const begun = await retryWhileUnavailable(abortSignal(), () => pending.begin(action));
  return begun.kind === 'run' ? go() : end({ kind: 'not_begun', begun });
}

/** Whether the calls of an agent are judged before they begin. */
export function judgesCalls({ registry }: JudgePorts): NonNullable<BeginTool['judges']> {
  return (agent) => registry().agents.get(agent)?.policy !== undefined;
}

/** Undefined where the call has begun. */
export function toPending(
  store: ThreadStore,
  { judges: _, history: __, ...command }: BeginTool,
  { unbegun }: Extract<BegunTool, { kind: 'run' }>,
): { pending?: PendingCall } {
  if (!unbegun) return {};
  let begun = false;
  const pending: PendingCall = {
    get begun() {
      return begun;
    },
    async begin(action) {
      const answer = await store.toolCalls.begin({ ...command, ...(action && { action }) });
      if (answer.kind === 'run') begun = true;
      return answer;
    },
  };
  return { pending };
}
