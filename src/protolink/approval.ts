/** Policies, approvals and what ends a run before its time, under the page's names. */
import {
  decide,
  type PolicyDecision,
  type CapabilityPolicy as Rules,
} from '../core/governance/capability-policy.ts';
import { readPermissions, toEffect } from '../core/governance/permissions.ts';
import { isRuleName, type PolicyEffect, type PolicyRules } from '../core/governance/policy-rule.ts';
import { type ErrorCode, RuntimeError } from '../core/value/error.ts';
import type { Decision } from '../core/wait/answer.ts';
import type { RunEvent } from '../projections/run/run-event.ts';
import { type Fields, RunAction } from './artifact.ts';
import type { RunContext } from './run-context.ts';

/**
 * Rules by capability. What declares none is allowed, as on the page.
 * @example
 * ```ts
 * const policy = new CapabilityPolicy({ 'records.read': 'allow', 'records.write': 'require_approval', 'records.*': 'deny' });
 * const action = new RunAction({ kind: 'tool.call', name: 'publish', capabilities: ['records.write'] });
 * console.log(policy.evaluate(action).effect); // require_approval
 * ```
 */
export class CapabilityPolicy implements Rules {
  readonly rules: PolicyRules;
  readonly default: PolicyEffect;
  readonly undeclared = 'allow';

  /** A rule is an effect, `true` (allow) or `false` (deny). Throws `InvalidValue`. */
  constructor(
    rules: Fields = {},
    { defaultEffect = 'allow' }: { readonly defaultEffect?: PolicyEffect } = {},
  ) {
    this.rules = Object.fromEntries(
      Object.entries(rules).map(([name, rule]) => [name, readRule(name, rule)]),
    );
    this.default = defaultEffect;
  }

  /** As the engine judges a call. */
  evaluate({ capabilities }: RunAction, context?: RunContext): PolicyDecision {
    return decide(this, [...capabilities], context && readPermissions(context.given.permissions ?? {}));
  }
}

function readRule(name: string, rule: unknown): PolicyEffect {
  const effect = toEffect(rule);
  if (effect !== undefined && isRuleName(name)) return effect;
  const problem = effect
    ? 'is no capability, no "prefix.*" and no "*"'
    : 'must be allow, require_approval or deny';
  throw new RuntimeError('InvalidValue', `The rule "${name}" ${problem}.`);
}

/** Plain JSON but for its action. */
export interface ApprovalRequest {
  readonly requestId: string;
  readonly runId: string | null;
  readonly action: RunAction;
  readonly summary: string | null;
}

export interface ApprovalDecision {
  readonly approved: boolean;
  readonly requestId: string;
  readonly reason?: string;
  readonly decidedBy?: string;
}

/** Asked while its process lives; who else answers the wait first has decided. */
export type ApprovalHandler = (
  request: ApprovalRequest,
  context: RunContext,
) => ApprovalDecision | boolean | Promise<ApprovalDecision | boolean>;

export function readRequest({ payload, run_id: runId, summary }: RunEvent): ApprovalRequest {
  const { request_id: requestId, action } = payload.request as { request_id: string; action: Fields };
  return { requestId, runId, action: RunAction.fromDict(action), summary };
}

/** Throws `InvalidValue` for what is no decision, or one of another request: nothing is decided then. */
export function readDecision(given: unknown, { requestId }: ApprovalRequest): Decision {
  if (typeof given === 'boolean') return { approved: given };
  const decision = given as Partial<ApprovalDecision> | null | undefined;
  if (typeof decision?.approved !== 'boolean')
    throw new RuntimeError(
      'InvalidValue',
      'An approval handler must answer true, false or an ApprovalDecision.',
    );
  if (decision.requestId !== requestId)
    throw new RuntimeError(
      'InvalidValue',
      `The decision is for "${decision.requestId}", and "${requestId}" was asked.`,
    );
  const { approved, reason, decidedBy: by } = decision;
  return { approved, ...(reason === undefined ? {} : { reason }), ...(by === undefined ? {} : { by }) };
}

/**
 * An action was not done.
 * @example
 * ```ts
 * try {
 *   await new Agent({ name: 'clerk', description: 'Clerk' }).executeTask(Task.createInfer({ prompt: 'Pay.' }));
 * } catch (error) {
 *   if (error instanceof ActionPolicyError) console.log(error.action.name, error.message);
 * }
 * ```
 */
export class ActionPolicyError extends RuntimeError {
  readonly action: RunAction;

  constructor(code: ErrorCode, message: string, action: RunAction) {
    super(code, message);
    this.action = action;
  }
}

/**
 * An action was not done: a rule denies it, or whoever was asked.
 * @example
 * ```ts
 * try {
 *   await new Agent({ name: 'clerk', description: 'Clerk' }).executeTask(Task.createInfer({ prompt: 'Pay.' }));
 * } catch (error) {
 *   if (error instanceof ActionDeniedError) console.log(error.message);
 * }
 * ```
 */
export class ActionDeniedError extends ActionPolicyError {}

/**
 * An action was not done: nobody could be asked.
 * @example
 * ```ts
 * try {
 *   await new Agent({ name: 'clerk', description: 'Clerk' }).executeTask(Task.createInfer({ prompt: 'Pay.' }));
 * } catch (error) {
 *   if (error instanceof ApprovalRequiredError) console.log(error.action.capabilities);
 * }
 * ```
 */
export class ApprovalRequiredError extends ActionPolicyError {}

/**
 * A limit of the run's budget has ended it.
 * @example
 * ```ts
 * try {
 *   await new Agent({ name: 'clerk', description: 'Clerk' }).executeTask(Task.createInfer({ prompt: 'Pay.' }));
 * } catch (error) {
 *   if (error instanceof BudgetExceededError) console.log(error.decision.limit_name);
 * }
 * ```
 */
export class BudgetExceededError extends RuntimeError {
  /** `limit_name`, `limit`, `observed`. */
  readonly decision: Fields;

  constructor(decision: Fields) {
    super('BudgetExceeded', `The budget is used up: ${decision.limit_name} is ${decision.limit}.`);
    this.decision = decision;
  }
}

/** The denial that a run has told of. */
export function findDenial(events: readonly RunEvent[]): ActionPolicyError | undefined {
  const payload = events.find(({ type }) => type === 'action.denied')?.payload;
  if (!payload) return undefined;
  const action = RunAction.fromDict(payload.action as Fields);
  const reason = String(payload.reason);
  if (payload.code === 'ApprovalRequired')
    return new ApprovalRequiredError('ApprovalRequired', reason, action);
  return new ActionDeniedError('ActionDenied', reason, action);
}

/** Why a run has failed, as it has told. */
export function toFailure(events: readonly RunEvent[]): Error {
  const exceeded = events.find(({ type }) => type === 'budget.exceeded')?.payload.decision;
  if (exceeded) return new BudgetExceededError(exceeded as Fields);
  const { error } = (events.at(-1)?.payload.metadata ?? {}) as { error?: { code: string; message: string } };
  return (
    findDenial(events) ?? Object.assign(new Error(error?.message ?? 'The run has failed.'), { ...error })
  );
}
