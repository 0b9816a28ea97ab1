/** An agent elsewhere that speaks A2A (docs/a2a.md), as its author has declared it; what it says of itself is a stranger's word. */
import type { VariableDefinition } from './definition.ts';

export interface A2aAgentDefinition {
  readonly kind: 'a2a_agent';
  /** From the file's name; set by discovery. */
  readonly name: string;
  /** What models are told of it: the author's words, not its card's. */
  readonly description: string;
  /** Of its card, or of the place below which its card is. */
  readonly url: string;
  /** Sent with each request. Texts may hold `{{NAME}}`, which stands for a variable that is declared. */
  readonly headers: Readonly<Record<string, string>>;
  /** Beside that of `url`: where its card may lead, and its files may be. */
  readonly origins: readonly string[];
  readonly variables: readonly VariableDefinition[];
  /** It takes a message once, by its id: one whose receipt is unknown may be sent again. */
  readonly idempotent: boolean;
  /** A thread's calls go on in one context. */
  readonly resumable: boolean;
  /** Milliseconds until its task must have ended. */
  readonly timeoutMs: number;
  /** Milliseconds for one request. */
  readonly requestTimeoutMs: number;
  /** Milliseconds that it may be out of reach. */
  readonly unreachableMs: number;
  readonly approvalTimeoutMs?: number;
}
