/** What code of a project does itself, outside of any tool, and wants judged, approved, paid for and told as any call (`state.act`). */

import type { ArtifactInput } from '../governance/prepared-action.ts';
import type { ErrorCode } from '../value/error.ts';

export interface OwnAction {
  /** What sort of thing it is, such as `resource.update`: parts of letters, digits, `_`, `-` and `:` with dots between them. */
  readonly kind: string;
  /** Up to 128 characters. */
  readonly name: string;
  /** Tells actions of the same piece of work apart, up to 128 characters; else they are counted, so their order must be the same in every attempt. */
  readonly key?: string;
  /** JSON that says what will be done: shown, and part of what is approved. */
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** What it needs to be allowed. */
  readonly capabilities?: readonly string[];
  /** What would be done, in words. */
  readonly description?: string;
  /** What would change, and how. */
  readonly artifacts?: readonly ArtifactInput[];
  /** Milliseconds, above 0: how long an approval is waited for. */
  readonly approvalTimeoutMs?: number;
}

/** What the executor of an action is told. */
export interface OwnActionContext {
  /** The same for each attempt at this action, and for no other: hand it to the service that you call. */
  readonly actionId: string;
  /** Fires when the work is aborted. */
  readonly signal: AbortSignal;
}

export type OwnActionResult<Value> =
  | { readonly status: 'success'; readonly actionId: string; readonly value: Value }
  /**
   * It was not done, or has failed. `code`: `ActionDenied`, `ApprovalRequired` (nothing was done; `waitId` is the wait that asks for it, where one
   * does), `BudgetExceeded`, or that of what the executor threw.
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
   * Does something that is no tool, through the gate of every call: judged by the agent's policy and the permissions of the context, approved where
   * that asks, paid for, told in the log, and only then executed. Never rejects for what a policy, a person, a budget or the executor causes: that is
   * an error result. Running code does not wait: what needs an approval is refused with `ApprovalRequired`, and passes once that was given.
   * Rejects with `InvalidValue` or `LimitExceeded` for what is no action.
   */
  act<Value>(
    action: OwnAction,
    execute: (context: OwnActionContext) => Value | Promise<Value>,
  ): Promise<OwnActionResult<Value>>;
}
