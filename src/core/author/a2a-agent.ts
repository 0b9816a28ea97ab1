/** An agent elsewhere as its author declares it (docs/a2a.md). What that agent says of itself is not trusted. */
import type { VariableDefinition } from './variable-definition.ts';

export interface A2aAgentDefinition {
  readonly kind: 'a2a_agent';
  /** From the file's name; set by discovery. */
  readonly name: string;
  /** Description for models: the author's, not that of the agent's card. */
  readonly description: string;
  /** URL of the agent's card, or of the place below which its card is. */
  readonly url: string;
  /** Sent with each request. Values may contain `{{NAME}}`, which is replaced by a declared variable. */
  readonly headers: Readonly<Record<string, string>>;
  /** Allowed origins besides that of `url`: for the endpoint that its card names, and for its files. */
  readonly origins: readonly string[];
  readonly variables: readonly VariableDefinition[];
  /** True if it deduplicates messages by id: a message whose receipt is unknown may be sent again. */
  readonly idempotent: boolean;
  /** True if the calls of a thread continue in one A2A context. */
  readonly resumable: boolean;
  /** Milliseconds until its task must have ended. */
  readonly timeoutMs: number;
  /** Milliseconds for one request. */
  readonly requestTimeoutMs: number;
  /** Milliseconds that it may be unreachable before its call fails. */
  readonly unreachableMs: number;
  readonly approvalTimeoutMs?: number;
}
