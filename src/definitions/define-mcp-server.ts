/** `defineMcpServer` (docs/mcp.md): a server whose tools prompts may list as `mcp:<server>/<tool>`. */

import { z } from 'zod';
import type { McpReach, McpServerDefinition } from '../core/author/mcp-server.ts';
import { checkFields, type FieldTable, type RawFields } from './check.ts';
import { markDefinition } from './definition-mark.ts';
import { count, env, isGiven, names, text, variables } from './field.ts';
import type { VariableInput } from './variable-input.ts';
import { checkVariableTexts } from './variable-text.ts';

const server = z.strictObject({
  command: text.optional(),
  args: z.array(z.string()).default([]),
  cwd: text.optional(),
  env: env.default({}),
  url: z.url({ protocol: /^https?$/ }).optional(),
  headers: env.default({}),
  variables: variables.default([]),
  idempotent: z.union([z.literal(true), names]).default([]),
  timeoutMs: count.default(60_000),
  connectTimeoutMs: count.default(60_000),
  approvalTimeoutMs: count.optional(),
});

/** Both kinds of servers in one; the rules below keep them apart. */
type WrittenServer = McpServerTerms &
  Partial<
    Pick<McpProgramInput, 'command' | 'args' | 'cwd' | 'env'> & Pick<McpAddressInput, 'url' | 'headers'>
  >;

const SERVER: FieldTable<typeof server, WrittenServer> = {
  what: 'defineMcpServer',
  fields: server,
  rules: [
    {
      field: 'command',
      message: "or url is required: the program to start, or the server's address",
      holds: ({ command, url }) => !isGiven(command) && !isGiven(url),
    },
    {
      field: 'url',
      message: 'cannot be combined with command: a server is either a program or a url',
      holds: ({ command, url }) => isGiven(command) && isGiven(url),
    },
    ...(['args', 'cwd', 'env'] as const).map((field) => ({
      field,
      message: 'applies only to a program, and this server has a url; write headers',
      holds: (given: RawFields) => isGiven(given.url) && isGiven(given[field]),
    })),
    {
      field: 'headers',
      message: 'applies only to a url, and this server is a program; write env',
      holds: ({ command, headers }) => isGiven(command) && isGiven(headers),
    },
  ],
  warnings: [],
  hints: {
    name: "a server's name is the name of its file",
    tools: 'prompts list its tools, as mcp:<server>/<tool>',
    transport: 'write command, or url',
    type: 'write command, or url',
    environment: 'write env',
    auth: 'write headers, with {{NAME}} for a variable',
  },
  more: (given) => checkVariableTexts(given, ['args', 'env', 'headers']),
};

/**
 * Declares an MCP server; the default export of a file in `agents/mcp/`, whose name is the server's name. Prompts list
 * its tools as `mcp:<server>/<tool>`. Throws an `InvalidDefinitions` error that lists every problem.
 * @example
 * ```ts
 * export default defineMcpServer({
 *   command: 'npx',
 *   args: ['-y', '@modelcontextprotocol/server-filesystem', '/srv/documents'],
 *   idempotent: ['read_text_file', 'list_directory'],
 * });
 * ```
 */
export function defineMcpServer(input: McpServerInput): McpServerDefinition {
  const { fields, warnings } = checkFields(SERVER, input);
  const { command, args, cwd, env: given, url, headers, ...terms } = fields;
  const reach: McpReach =
    command === undefined
      ? { by: 'http', url: url as string, headers }
      : { by: 'stdio', command, args, ...(cwd === undefined ? {} : { cwd }), env: given };
  // Discovery names it after its file: `nameDefinition`.
  return markDefinition<McpServerDefinition>({ ...terms, reach, kind: 'mcp_server', name: '' }, warnings);
}

/**
 * What authors pass to `defineMcpServer` (docs/mcp.md): a program that is started for each thread, or a server that is reached over HTTP.
 */
export type McpServerInput = McpProgramInput | McpAddressInput;

export interface McpProgramInput extends McpServerTerms {
  /** The program, found through PATH as in a shell. */
  command: string;
  /**
   * Arguments of the program; default none. `{{NAME}}` is replaced by a variable. Arguments are visible to other users
   * of the machine, so put secrets into `env`.
   */
  args?: readonly string[];
  /** Working directory of the program; default that of the worker. */
  cwd?: string;
  /**
   * The whole environment of the program, besides PATH, HOME, USER and the like. `{{NAME}}` is replaced by a variable.
   */
  env?: Readonly<Record<string, string>>;
  url?: undefined;
  headers?: undefined;
}

export interface McpAddressInput extends McpServerTerms {
  /** URL at which the server speaks streamable HTTP. */
  url: string;
  /** Sent with each request. `{{NAME}}` is replaced by a variable. */
  headers?: Readonly<Record<string, string>>;
  command?: undefined;
  args?: undefined;
  cwd?: undefined;
  env?: undefined;
}

export interface McpServerTerms {
  /** Variables that `args`, `env` or `headers` refer to; default none. */
  variables?: readonly VariableInput[];
  /**
   * Tools that may run again after their worker was lost, by their names at the server; `true`: all tools. Default
   * none: each call runs at most once.
   */
  idempotent?: true | readonly string[];
  /** Milliseconds for one call; default 60,000. */
  timeoutMs?: number;
  /** Milliseconds until it must have listed its tools, including any download of its program; default 60,000. */
  connectTimeoutMs?: number;
  /** Milliseconds that a call waits for an approval; default no limit. */
  approvalTimeoutMs?: number;
}
