/** An agent's policy for the actions of its threads, and the types of actions. */
import type { CapabilityPolicy, PolicyDecision } from './capability-policy.ts';
import type { GrantRules } from './grant.ts';
import { joinPermissions, type PermissionRules, type Permissions, readPermissions } from './permissions.ts';
import { findRule } from './policy-rule.ts';
import type { RunContext } from './run-context.ts';

/** The policy of an agent, defaults applied. */
export interface AgentPolicy extends CapabilityPolicy {
  /** Name of a policy of `agents/policies` that judges in addition to the rules. */
  readonly evaluate?: string;
  /** Whether a call that needs an approval waits for it, or is refused at once. */
  readonly approvals: 'wait' | 'refuse';
  /** What follows a call that was not done: the model reads it and goes on, or the execution ends. */
  readonly onDenied: 'continue' | 'fail';
  /**
   * What follows the loss of a call's worker: the model reads that the outcome is unknown, or a person is asked.
   * Default `continue`.
   */
  readonly onUncertain?: 'continue' | 'wait';
  /** How far a person may grant calls that need a capability; `always` if no rule covers it. */
  readonly grants?: GrantRules;
}

/** Stands in for the policy of an agent without one. */
const NO_POLICY: AgentPolicy = {
  rules: {},
  default: 'allow',
  undeclared: 'allow',
  approvals: 'wait',
  onDenied: 'continue',
};

/** The rules that judge the actions of an execution. */
export interface ActingRules {
  readonly policy: AgentPolicy;
  /** Permissions of the execution's context; they narrow the policy. */
  readonly context?: PermissionRules;
}

/** Undefined if neither the agent nor the context of the run has rules: then no rule judges its actions. */
export function findRules(
  policy: AgentPolicy | undefined,
  context: Pick<RunContext, 'permissions'> | null | undefined,
): ActingRules | undefined {
  const { permissions = {} } = context ?? {};
  const narrows = Object.keys(permissions).length > 0;
  if (!policy && !narrows) return undefined;
  const own = policy ?? NO_POLICY;
  if (!narrows) return { policy: own };
  const given = readPermissions(permissions);
  return { policy: given.approvals === 'refuse' ? { ...own, approvals: 'refuse' } : own, context: given };
}

/**
 * Combines a thread's own policy with the permissions of its run, as permissions for whoever works for the thread: they
 * narrow there, so it may do nothing that the thread may not. The author's policy (`evaluate`) is not included.
 */
export function delegatePermissions(policy: AgentPolicy | undefined, permissions: Permissions): Permissions {
  if (!policy) return permissions;
  const { rules, default: fallback, undeclared, approvals } = policy;
  // Without a rule for them, tools that a provider runs are not sent, whatever the default is.
  const noProviders = findRule(rules, ANY_PROVIDER) === undefined ? { [ANY_PROVIDER]: 'deny' } : {};
  return joinPermissions(
    {
      capabilities: { ...rules, ...noProviders },
      default: fallback,
      undeclared,
      ...(approvals === 'refuse' ? { approvals } : {}),
    },
    permissions,
  );
}

/** Rules of a call that is judged only because its tool's `confirm` or the budget's policy asks about it. */
export const NO_RULES: ActingRules = { policy: NO_POLICY };

/** Kinds of calls, one for each kind of callee. */
export const CALL_KINDS = ['tool.call', 'prompt.call', 'agent.call'] as const;
/** The kind of a call, or an application's own, such as `resource.update` (core/author/own-action.ts). */
export type ActionKind = (typeof CALL_KINDS)[number] | (string & {});

/** Something to review before an action is done, such as what it would change. */
export interface ActionArtifact {
  /** `preview` unless the tool says otherwise. */
  readonly kind: string;
  readonly name?: string;
  readonly mediaType?: string;
  readonly uri?: string;
  /** JSON. */
  readonly content?: unknown;
  readonly actionId: string;
}

/** An operation that a policy judges: a call with validated arguments, before it begins. */
export interface Action {
  /** The call's idempotency key: the same for each attempt of the same call, and for no other. */
  readonly id: string;
  readonly kind: ActionKind;
  readonly name: string;
  /** The model's id of the call; absent if code made the call. */
  readonly callId?: string;
  /** In alphabetical order. */
  readonly capabilities: readonly string[];
  /** SHA-256 over what will be done: 64 hex digits. If it differs, it is a different action. */
  readonly fingerprint: string;
  readonly description?: string;
  readonly artifacts?: readonly ActionArtifact[];
}

/** An action with the decision of its policy. */
export interface JudgedAction {
  readonly action: Action;
  readonly decision: PolicyDecision;
}

/**
 * `requested`: waits for an approval. `denied`, `completed`, `failed`: over. `uncertain`: it had begun when its worker
 * was lost, and whether it has taken effect is unknown until a person reports it: `reconciled`.
 */
export const ACTION_STATES = [
  'requested',
  'denied',
  'started',
  'completed',
  'failed',
  'uncertain',
  'reconciled',
] as const;
export type ActionState = (typeof ACTION_STATES)[number];

/** The error that an execution ends with if its policy has `onDenied: 'fail'`. */
export function toFatalError(
  name: string,
  { code, reason }: { readonly code: string; readonly reason: string },
): { readonly code: string; readonly message: string } {
  return { code, message: `"${name}" was not done. ${reason}`.slice(0, 1000) };
}

/** Capabilities of calls that declare none themselves. */
export const OWN_CAPABILITIES = {
  'prompt.call': 'prompt.call',
  'agent.call': 'agent.delegate',
  runsCode: 'code.run',
} as const;

const ANY_PROVIDER = 'provider.*';

/** Returns the capability of a tool that the model's provider runs. */
export function providerCapability(name: string): string {
  return `provider.${name}`;
}
