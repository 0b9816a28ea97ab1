/** What authors pass to `defineA2aAgent` (docs/a2a.md). Types alone; `define-a2a-agent.ts` checks them. */
import type { VariableInput } from './variable-input.ts';

export interface A2aAgentInput {
  /** Description of the tool, shown to models. */
  description: string;
  /**
   * URL of the agent's card if it ends with `.json`; otherwise the base URL, with the card at
   * `.well-known/agent-card.json` below it.
   */
  url: string;
  /** Sent with each request. `{{NAME}}` is replaced by a variable. */
  headers?: Readonly<Record<string, string>>;
  /**
   * Allowed origins besides that of `url`, for the endpoint that its card names and for its files:
   * `https://files.example.com`. Default none.
   */
  origins?: readonly string[];
  /** Variables that `headers` refers to; default none. */
  variables?: readonly VariableInput[];
  /**
   * True if the agent deduplicates messages by `messageId`, as Everthread does: if a lost worker or a broken connection
   * leaves it unknown whether a message was received, the message is sent again. Default false: the agent's tasks are
   * searched for the message, and if it is not found, the call's outcome is unknown.
   */
  idempotent?: boolean;
  /**
   * True if the calls of a thread share one A2A context, so that the agent knows the earlier ones. Default false: each
   * call has its own context.
   */
  resumable?: boolean;
  /**
   * Milliseconds until its task must have ended, waits for people included; then the task is cancelled. Default
   * 86,400,000 (a day).
   */
  timeoutMs?: number;
  /** Milliseconds for one request; default 30,000. */
  requestTimeoutMs?: number;
  /**
   * Milliseconds that the agent may be unreachable, before its task begins or while the task is followed; then the call
   * fails. Default 300,000.
   */
  unreachableMs?: number;
  /** Milliseconds that a call waits for an approval; default no limit. */
  approvalTimeoutMs?: number;
}
