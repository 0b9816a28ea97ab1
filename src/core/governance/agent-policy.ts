/** What an agent's definition says of the actions of its threads, and what an action is. */
import type { CapabilityPolicy, PolicyDecision } from './capability-policy.ts';
import { joinPermissions, type PermissionRules, type Permissions, readPermissions } from './permissions.ts';
import { findRule } from './policy-rule.ts';
import type { RunContext } from './run-context.ts';

/** The policy of an agent, defaults applied. */
export interface AgentPolicy extends CapabilityPolicy {
  /** A policy of `agents/policies` that judges beside the rules. */
  readonly evaluate?: string;
  /** What needs an approval waits for it, or is refused at once. */
  readonly approvals: 'wait' | 'refuse';
  /** What a call that is not done means to its execution: the model reads it and goes on, or the execution ends. */
  readonly onDenied: 'continue' | 'fail';
  /** What a call whose worker was lost means: the model reads that its end is unknown, or a person is asked what became of it. Default `continue`. */
  readonly onUncertain?: 'continue' | 'wait';
}

/** Of an agent that says nothing, in a run whose permissions say something. */
const NO_POLICY: AgentPolicy = {
  rules: {},
  default: 'allow',
  undeclared: 'allow',
  approvals: 'wait',
  onDenied: 'continue',
};

/** What judges the actions of an execution. */
export interface ActingRules {
  readonly policy: AgentPolicy;
  /** The permissions of its context; they narrow. */
  readonly context?: PermissionRules;
}

/** Undefined where neither the agent nor the context of the run says anything: then nothing is judged. */
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
 * What a thread's own policy and the permissions of its run come to, as the permissions of whoever works for it: they narrow there, so it
 * may do nothing that the thread may not. What an author's policy (`evaluate`) says is not a part of it.
 */
export function handedDown(policy: AgentPolicy | undefined, permissions: Permissions): Permissions {
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

/** Rules of a call that nothing but its tool's `confirm` asks about. */
export const NO_RULES: ActingRules = { policy: NO_POLICY };

/** What a call of each kind of callee is. */
export const CALL_KINDS = ['tool.call', 'prompt.call', 'agent.call'] as const;
/** Or an application's own, such as `resource.update` (core/author/own-action.ts). */
export type ActionKind = (typeof CALL_KINDS)[number] | (string & {});

/** Something to look at before an action is done, such as what it would change. */
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

/** An operation that policy judges: a call whose arguments are checked, before it begins. */
export interface Action {
  /** The same for each attempt of the same call, and for no other: the call's idempotency key. */
  readonly id: string;
  readonly kind: ActionKind;
  readonly name: string;
  /** The model's id of the call; absent where code has called. */
  readonly callId?: string;
  /** In alphabetical order. */
  readonly capabilities: readonly string[];
  /** SHA-256 over what will be done: 64 hex digits. Another one is another action. */
  readonly fingerprint: string;
  readonly description?: string;
  readonly artifacts?: readonly ActionArtifact[];
}

/** An action with what its policy says of it. */
export interface JudgedAction {
  readonly action: Action;
  readonly decision: PolicyDecision;
}

/**
 * `requested`: it waits for an approval. `denied`, `completed`, `failed`: over. `uncertain`: it had begun when its worker was lost, and whether it has taken effect is unknown,
 * until somebody says so: `reconciled`.
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

/** What an execution ends with where its policy says `onDenied: 'fail'`. */
export function toFatalError(
  name: string,
  { code, reason }: { readonly code: string; readonly reason: string },
): { readonly code: string; readonly message: string } {
  return { code, message: `"${name}" was not done. ${reason}`.slice(0, 1000) };
}

/** What calls have that declare nothing themselves. */
export const OWN_CAPABILITIES = {
  'prompt.call': 'prompt.call',
  'agent.call': 'agent.delegate',
  runsCode: 'code.run',
} as const;

const ANY_PROVIDER = 'provider.*';

/** The capability of a tool that the provider of a model runs. */
export function providerCapability(name: string): string {
  return `provider.${name}`;
}
