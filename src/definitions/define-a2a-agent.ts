/** `defineA2aAgent` (docs/a2a.md): an agent elsewhere that prompts may list as `a2a:<name>`. */
import { z } from 'zod';
import type { A2aAgentDefinition } from '../core/author/a2a-agent.ts';
import type { A2aAgentInput } from './a2a-agent-input.ts';
import { checkFields, type FieldTable } from './check.ts';
import { markDefinition } from './definition-mark.ts';
import { count, env, flag, text, variables } from './field.ts';
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
