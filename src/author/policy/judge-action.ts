/**
 * Stages of the tool gate that judge a call before any of it is done: by its declared capabilities, by what its tool
 * prepares, and by the agent's policy.
 * - If nothing judges a call (asked-action.ts, `rulesFor`), nothing is prepared, judged, logged or stored.
 * - Preparation adds capabilities to the declared ones, and never removes any.
 *
 * Ensures that only arguments are executed that were validated, judged and shown: code of the tool that runs before the
 * body, `prepareAction` and `confirm`, could change them in place.
 * - Arguments that `prepareAction` has changed are validated again, like those of a model (`checkPrepared`). They are
 *   then what is judged, shown and executed.
 * - If arguments are changed after that, the call is refused before it begins.
 */

import type { PolicyDefinition } from '../../core/author/policy.ts';
import type { ToolDefinition } from '../../core/author/registry.ts';
import { decide, type PolicyDecision } from '../../core/governance/capability-policy.ts';
import {
  decideByRules,
  joinVerdict,
  type OwnVerdict,
  readVerdict,
} from '../../core/governance/own-decision.ts';
import { readPrepared } from '../../core/governance/prepared-action.ts';
import type { StoredError } from '../../core/thread/step.ts';
import { canonicalJson } from '../../core/value/canonical-json.ts';
import { errorMessage } from '../../core/value/error.ts';
import { LIMITS } from '../../core/value/limit.ts';
import type { ActionDenial, DecidedAction, EarlierDecision } from '../../store/action/action-record.ts';
import type { ThreadStore } from '../../store/store.ts';
import { runAuthorCode } from '../guard/author-run.ts';
import { withinTime } from '../guard/within-time.ts';
import type { ThreadEnv } from '../state/thread-env.ts';
import { type AnsweredCall, checkPrepared, refuseCall } from '../tool/check-arguments.ts';
import { freezeDeep } from '../tool/freeze-deep.ts';
import { type AskedAction, toAction, toGrantedTool } from './asked-action.ts';
import { go, type Nothing, type Verdict } from './gate.ts';
import { judgeSpending } from './judge-spending.ts';

/** `asked` is undefined if nothing judges the call. */
export interface Asked {
  readonly asked: AskedAction | undefined;
}

export interface Judged {
  readonly action: DecidedAction | undefined;
}

interface ReadVariables {
  /** Present if variables have been read. */
  readonly env?: Pick<ThreadEnv, 'redactKnown'>;
}

/** Stage: refuses a call whose declared capabilities are denied, before anything is prepared. */
export function refuseDenied(
  _ports: unknown,
  { asked, env }: Asked & ReadVariables,
): Verdict<Nothing, AnsweredCall> {
  if (!asked) return go();
  const { rules, capabilities, evaluator } = asked;
  // Capabilities that no rule covers are left to the author's policy, if there is one.
  const judge = evaluator ? decideByRules : decide;
  const decision = judge(rules.policy, capabilities, rules.context);
  if (decision.effect !== 'deny') return go();
  return refuseAction(toDecided(asked, decision, env), toDenial(decision));
}

function toDecided(asked: AskedAction, decision: PolicyDecision, env: ReadVariables['env']): DecidedAction {
  const shown = env ? env.redactKnown(asked.args ?? {}) : (asked.args ?? {});
  const isSmall = Buffer.byteLength(canonicalJson(shown)) <= LIMITS.waitBytes;
  return { action: toAction(asked), decision, ...(isSmall ? { arguments: shown } : {}) };
}

interface PreparedCall extends Asked {
  readonly tool: ToolDefinition;
  /** Validated arguments. */
  readonly args: unknown;
  readonly env: ThreadEnv;
  readonly signal: AbortSignal;
}

/** Stage: runs the tool's `prepareAction`, and validates the arguments again if it has changed them. */
export async function prepareAction(
  _ports: unknown,
  { asked, args, tool, env, signal }: PreparedCall,
): Promise<Verdict<Asked & { readonly args: unknown }, AnsweredCall>> {
  if (!asked || !tool.prepareAction) return go({ asked, args });
  const { thread, id, runContext = null } = asked;
  const { agent, userId } = thread;
  const bound = env.bind(tool);
  const place = { actionId: id, threadId: thread.id, agent, userId, signal, env: bound.env };
  const context = { ...place, context: freezeDeep(structuredClone(runContext)) };
  // The definition types `args` as never, because each tool has its own type; checkToolArguments has validated them.
  const prepare = tool.prepareAction as (args: unknown, given: typeof context) => unknown;
  const run = { code: 'tool', name: tool.name, threadId: thread.id, work: id } as const;
  try {
    const before = canonicalJson(args ?? null);
    const preparation = await withinTime(() => runAuthorCode(run, () => prepare(asked.args, context)), {
      signal,
    });
    const checked = await checkPrepared(tool, asked.args, before);
    if (checked.kind === 'end') return checked;
    const prepared = env.redactKnown(readPrepared(preparation));
    // Adds to the declared capabilities.
    const capabilities = [...asked.capabilities, ...(prepared.capabilities ?? [])];
    return go({ ...checked.added, asked: { ...asked, ...checked.added, capabilities, prepared } });
  } catch (error) {
    if (signal.aborted) throw error;
    return refuseCall(
      `"${tool.name}" was not done, because it could not be prepared: ${errorMessage(error)}`,
      { invalid: true },
    );
  }
}

/** Stage: judges the action by the agent's policy, and its spending by the budget's policy, if there is one. */
export async function judgeAction(
  { store }: { readonly store: Pick<ThreadStore, 'budgets'> },
  { asked, env }: Asked & ReadVariables,
): Promise<Verdict<Judged, AnsweredCall>> {
  if (!asked) return go({ action: undefined });
  const { rules, capabilities, evaluator } = asked;
  const ruled = decide(rules.policy, capabilities, rules.context);
  const decision = evaluator ? await askPolicy(evaluator, asked, ruled) : ruled;
  const action = toDecided(asked, decision, env);
  if (decision.effect === 'deny') return refuseAction(action, toDenial(decision));
  return go({ action: { ...action, decision: await joinSpending(store, asked, decision) } });
}

/**
 * Requires an approval if the budget's policy asks for one. If it denies, the next stage that pays refuses the call.
 */
async function joinSpending(
  store: Pick<ThreadStore, 'budgets'>,
  { spender, kind, name, id: work, thread, executionId, runContext = null, step, signal }: AskedAction,
  decision: PolicyDecision,
): Promise<PolicyDecision> {
  if (!spender || !thread.budgeted) return decision;
  const spends = { maxToolCalls: 1 };
  const place = { thread, executionId: executionId ?? null, context: runContext, step, signal, work };
  const verdict = await judgeSpending(store, spender, { kind, name, spends, ...place });
  if (verdict?.effect !== 'ask') return decision;
  const { reason } = verdict;
  return { ...decision, effect: 'require_approval', reason, policy: spender.name };
}

/** Finds an earlier decision on the same action whose scope includes this call. */
export function findEarlier(
  { actions }: Pick<ThreadStore, 'actions'>,
  asked: AskedAction,
  decided: DecidedAction,
  { byCode = false } = {},
): Promise<EarlierDecision | null> {
  const { id, fingerprint } = decided.action;
  const place = { threadId: asked.thread.id, executionId: asked.executionId ?? null };
  const tool = toGrantedTool(asked, decided);
  return actions.findDecision({ ...place, fingerprint, tool, ...(byCode && { byCode: id }) });
}

/** Converts a refused approval to a denial. */
export function toRefusal({ reason, by }: Pick<EarlierDecision, 'reason' | 'by'>): ActionDenial {
  const who = by === undefined ? 'Its approval was refused' : `${by} refused its approval`;
  return { code: 'ActionDenied', reason: `${who}${reason === undefined ? '.' : `: ${reason}`}` };
}

/** Ends the gate: the action is not done. */
export function refuseAction(
  decided: DecidedAction,
  denied: ActionDenial,
  /** Id of the wait for the approval, if there is one. */
  waitId?: string,
): Verdict<never, AnsweredCall> {
  const { action, decision } = decided;
  return refuseCall(`${denied.code}: "${action.name}" was not done. ${denied.reason}`, {
    error_code: denied.code,
    error_data: {
      actionId: action.id,
      effect: decision.effect,
      capabilities: decision.matchedCapabilities,
      ...(waitId === undefined ? {} : { waitId }),
    },
    action: { ...decided, denied },
  });
}

/** Ends the gate of a call by code that the budget of its execution denies. */
export function refuseUnpaid(
  action: DecidedAction | undefined,
  { code, message }: StoredError,
): Verdict<never, AnsweredCall> {
  const denied = action && { ...action, denied: { code: 'BudgetExceeded', reason: message } as const };
  return refuseCall(message, { error_code: code, ...(denied && { action: denied }) });
}

export function toDenial({ effect, reason }: PolicyDecision): ActionDenial {
  if (effect === 'deny') return { code: 'ActionDenied', reason: `${reason}.` };
  return { code: 'ApprovalRequired', reason: `${reason}, and no approval can be requested here.` };
}

/**
 * Runs the policy that an agent names (`policy.evaluate`), within the time limit of a hook. It may run more than once
 * for a call, and fails closed: an error, or no answer in time, denies. Returns the joint decision of the rules and
 * the policy. `decision` is that of the rules.
 */
async function askPolicy(
  policy: PolicyDefinition,
  asked: AskedAction,
  decision: PolicyDecision,
): Promise<PolicyDecision> {
  const { rules, capabilities } = asked;
  const floor = decideByRules(rules.policy, capabilities, rules.context);
  if (floor.effect === 'deny') return floor;
  const verdict = await evaluate(policy, asked, decision);
  return verdict ? joinVerdict(policy.name, floor, capabilities, verdict) : decision;
}

async function evaluate(
  { name, evaluate: judge }: PolicyDefinition,
  asked: AskedAction,
  decision: PolicyDecision,
): Promise<OwnVerdict | undefined> {
  const { thread, signal, executionId = null, runContext = null, args } = asked;
  const { id: threadId, agent, userId } = thread;
  const action = freezeDeep(structuredClone({ ...toAction(asked), arguments: args ?? {} }));
  const decided = freezeDeep(structuredClone(decision));
  const context = {
    threadId,
    agent,
    userId,
    executionId,
    context: freezeDeep(structuredClone(runContext)),
    signal,
  };
  const run = { code: 'policy', name, threadId, work: asked.id } as const;
  try {
    const answer = await withinTime(
      async () => runAuthorCode(run, async () => judge?.(action, decided, context)),
      { signal },
    );
    return readVerdict(name, answer);
  } catch (error) {
    if (signal.aborted) throw error;
    return { effect: 'deny', reason: `The policy "${name}" could not judge it: ${errorMessage(error)}` };
  }
}

/** Stage for R2. Computes a digest for tools with such code, and nothing for others. */
export function recheckArguments(
  _ports: unknown,
  { asked, action, tool }: Asked & Judged & { readonly tool: ToolDefinition },
): Verdict<Nothing, AnsweredCall> {
  if (!asked || !action || (!tool.prepareAction && typeof tool.confirm !== 'function')) return go();
  if (toAction(asked).fingerprint === action.action.fingerprint) return go();
  return refuseCall(
    `"${tool.name}" was not done: its own code has changed the arguments after they were judged.`,
  );
}
