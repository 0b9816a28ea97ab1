/** Actions of project code outside of any tool (`state.act`): judged, approved, paid for and logged like a call. */

import type { ArtifactInput } from '../governance/prepared-action.ts';
import type { ErrorCode } from '../value/error.ts';

export interface OwnAction {
  /** Type of the action, such as `resource.update`: parts of letters, digits, `_`, `-` and `:`, joined by dots. */
  readonly kind: string;
  /** Up to 128 characters. */
  readonly name: string;
  /**
   * Distinguishes actions of the same piece of work, up to 128 characters. If absent, actions are numbered, so their
   * order must be the same in every attempt.
   */
  readonly key?: string;
  /** JSON that describes what will be done: shown to the approver, and part of what is approved. */
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** Capabilities that the action needs. */
  readonly capabilities?: readonly string[];
  /** What would be done, in words. */
  readonly description?: string;
  /** What would change, and how. */
  readonly artifacts?: readonly ArtifactInput[];
  /** Milliseconds to wait for an approval, above 0. */
  readonly approvalTimeoutMs?: number;
}

/** Passed to the executor of an action. */
export interface OwnActionContext {
  /** Idempotency key: the same for each attempt at this action only. Pass it to the service that you call. */
  readonly actionId: string;
  /** Fires when the work is aborted. */
  readonly signal: AbortSignal;
}

export type OwnActionResult<Value> =
  | { readonly status: 'success'; readonly actionId: string; readonly value: Value }
  /**
   * The action was not done, or has failed. `code`: `ActionDenied`, `ApprovalRequired` (nothing was done; `waitId` is
   * the wait for the approval, if there is one), `BudgetExceeded`, or the code of the executor's error.
   */
  | {
      readonly status: 'error';
      readonly actionId: string;
      readonly error: string;
      readonly code?: ErrorCode | (string & {});
      readonly waitId?: string;
    };

export interface ThreadActions {
  /**
   * Executes an action that is not a tool call, through the gate of every call: judged by the agent's policy and the
   * permissions of the context, approved if they require it, paid for, logged, and only then executed. Never rejects
   * for what a policy, a person, a budget or the executor causes: that is an error result. Running code does not wait:
   * an action that needs an approval is refused with `ApprovalRequired`, and passes once the approval was given.
   * Rejects with `InvalidValue` or `LimitExceeded` if the action is malformed.
   */
  act<Value>(
    action: OwnAction,
    execute: (context: OwnActionContext) => Value | Promise<Value>,
  ): Promise<OwnActionResult<Value>>;
}
