/** What authors pass to `defineA2aAgent` (docs/a2a.md). Types alone; `define-a2a-agent.ts` checks them. */
import type { VariableInput } from './variable-input.ts';

export interface A2aAgentInput {
  /** What models are told of it, as the description of a tool. */
  description: string;
  /** Of its card, where it ends with `.json`; else of the place below which `.well-known/agent-card.json` is. */
  url: string;
  /** Sent with each request. `{{NAME}}` stands for a variable. */
  headers?: Readonly<Record<string, string>>;
  /** Where else its card may lead, and its files may be: `https://files.example.com`. Default none: the origin of `url` alone. */
  origins?: readonly string[];
  /** Variables that its headers name; default none. */
  variables?: readonly VariableInput[];
  /**
   * It takes a message once, by its `messageId`, as Everthread does: a message of which a lost worker, or a broken connection, leaves unknown whether it was
   * received is sent again. Default false: it is looked for, and the call's outcome is unknown where it is not found.
   */
  idempotent?: boolean;
  /** A thread's calls go on in one context, so that it knows of those before; default false: each is a context of its own. */
  resumable?: boolean;
  /** Milliseconds until its task must have ended, waits for people included; default 86,400,000, a day. It is cancelled then. */
  timeoutMs?: number;
  /** Milliseconds for one request; default 30,000. */
  requestTimeoutMs?: number;
  /** Milliseconds that it may be out of reach, before its task and while that is followed; default 300,000. */
  unreachableMs?: number;
  /** Milliseconds that a call waits for an approval; default without end. */
  approvalTimeoutMs?: number;
}
