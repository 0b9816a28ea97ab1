/**
 * Entries of a prompt's `tools` (definitions §6.3, §13.1) in their normalised form. Which fields apply is
 * known once the name is resolved; `tool-reference.ts` checks that.
 */
import { z } from 'zod';
import { a2aToolName, parseA2aName } from '../core/project/a2a-agent.ts';
import { mcpToolName, parseMcpName } from '../core/project/mcp-tool.ts';
import { parseTaskName, taskToolName } from '../core/project/task-tool.ts';
import { count, env, flag, names, options, text } from './field.ts';

const immediate = z.strictObject({
  nameEnv: text.optional(),
  descriptionEnv: text.optional(),
  scopedEnv: names.optional(),
});

const resumable = z.strictObject({
  receives_messages: z.enum(['side_a', 'side_b']),
  maxInstances: count.optional(),
  parentCommunication: z.enum(['implicit', 'explicit']).optional(),
});

export const toolEntry = z.preprocess(
  (value) => (typeof value === 'string' ? { name: value } : value),
  z
    .strictObject({
      name: text,
      env: env.optional(),
      tenvs: env.optional(),
      options: options.default({}),
      includeTextResponse: flag.optional(),
      includeToolCalls: flag.optional(),
      includeErrors: flag.optional(),
      initUserMessageProperty: text.optional(),
      initAttachmentsProperty: text.optional(),
      initAgentNameProperty: text.optional(),
      blocking: flag.optional(),
      parallel: flag.optional(),
      immediate: z.union([flag, immediate]).optional(),
      optional: text.optional(),
      resumable: z.union([z.literal(false), resumable]).optional(),
    })
    .transform(({ name, env: values, tenvs, options: given, ...extra }) => ({
      ...toName(name),
      env: { ...tenvs, ...values },
      options: given,
      extra,
    })),
);

/**
 * Replaces the name of an MCP tool, an agent elsewhere or a task by the name that models call, and keeps the original.
 */
function toName(written: string) {
  const task = parseTaskName(written);
  if (task !== undefined) return { name: taskToolName(task), task };
  const mcp = parseMcpName(written);
  if (mcp) return { name: mcpToolName(mcp), mcp };
  const a2a = parseA2aName(written);
  return a2a === undefined ? { name: written } : { name: a2aToolName(a2a), a2a };
}
