/** `defineA2aAgent` (docs/a2a.md): an agent elsewhere that prompts may list as `a2a:<name>`. */

import { z } from 'zod';
import type { A2aAgentDefinition } from '../core/author/a2a-agent.ts';
import { checkFields, type FieldTable } from './check.ts';
import { markDefinition } from './definition-mark.ts';
import { count, env, flag, text, variables } from './field.ts';
import type { VariableInput } from './variable-input.ts';
import { checkVariableTexts } from './variable-text.ts';

const address = z.url({ protocol: /^https?$/ });

const agent = z.strictObject({
  description: text,
  url: address,
  headers: env.default({}),
  origins: z.array(address).default([]),
  variables: variables.default([]),
  idempotent: flag.default(false),
  resumable: flag.default(false),
  timeoutMs: count.default(86_400_000),
  requestTimeoutMs: count.default(30_000),
  unreachableMs: count.default(300_000),
  approvalTimeoutMs: count.optional(),
});

const AGENT: FieldTable<typeof agent, A2aAgentInput> = {
  what: 'defineA2aAgent',
  fields: agent,
  rules: [],
  warnings: [],
  hints: {
    name: "an agent's name is the name of its file",
    card: 'write url, the address of its card',
    auth: 'write headers, with {{NAME}} for a variable',
    token: 'write headers, with {{NAME}} for a variable',
    toolDescription: 'write description',
    blocking: 'every call waits for the end of its task; this cannot be changed',
  },
  more: (given) => checkVariableTexts(given, ['headers']),
};

/**
 * Declares an agent elsewhere that speaks A2A; the default export of a file in `agents/a2a/`, whose name is the agent's
 * name. Prompts list it as `a2a:<name>`. Throws an `InvalidDefinitions` error that lists every problem.
 * @example
 * ```ts
 * export default defineA2aAgent({
 *   description: 'Researches a question, and answers with what it has found.',
 *   url: 'https://agents.example.com/a2a/researcher',
 *   headers: { authorization: 'Bearer {{RESEARCH_TOKEN}}' },
 *   variables: [{ name: 'RESEARCH_TOKEN', required: true }],
 * });
 * ```
 */
export function defineA2aAgent(input: A2aAgentInput): A2aAgentDefinition {
  const { fields, warnings } = checkFields(AGENT, input);
  // Discovery names it after its file: `nameDefinition`.
  return markDefinition<A2aAgentDefinition>({ ...fields, kind: 'a2a_agent', name: '' }, warnings);
}

/** What authors pass to `defineA2aAgent` (docs/a2a.md). */
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
