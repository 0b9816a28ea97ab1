/** What authors pass to `defineMcpServer` (docs/mcp.md). Types alone; `define-mcp-server.ts` checks them. */
import type { VariableInput } from './variable-input.ts';

/** A program that is started for each thread, or a server that is reached over HTTP. */
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
