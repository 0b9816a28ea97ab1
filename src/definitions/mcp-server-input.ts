/** What authors pass to `defineMcpServer` (docs/mcp.md). Types alone; `define-mcp-server.ts` checks them. */
import type { VariableInput } from './variable-input.ts';

/** A program that is started for each thread, or a server that is reached over HTTP. */
export type McpServerInput = McpProgramInput | McpAddressInput;

export interface McpProgramInput extends McpServerTerms {
  /** The program, as in a shell's PATH. */
  command: string;
  /** Default none. `{{NAME}}` stands for a variable; arguments are visible to other users of the machine, so a secret belongs into `env`. */
  args?: readonly string[];
  /** The folder that it is started in; default that of the worker. */
  cwd?: string;
  /** All that it finds in its environment, beside PATH, HOME, USER and the like. `{{NAME}}` stands for a variable. */
  env?: Readonly<Record<string, string>>;
  url?: undefined;
  headers?: undefined;
}

export interface McpAddressInput extends McpServerTerms {
  /** Where it speaks streamable HTTP. */
  url: string;
  /** Sent with each request. `{{NAME}}` stands for a variable. */
  headers?: Readonly<Record<string, string>>;
  command?: undefined;
  args?: undefined;
  cwd?: undefined;
  env?: undefined;
}

export interface McpServerTerms {
  /** Variables that its texts name; default none. */
  variables?: readonly VariableInput[];
  /** Tools that may run again where a worker was lost, by their names at the server; true: all. Default none: each call at most once. */
  idempotent?: true | readonly string[];
  /** Milliseconds for one call; default 60,000. */
  timeoutMs?: number;
  /** Milliseconds until it must have told its tools, also where its program is fetched first; default 60,000. */
  connectTimeoutMs?: number;
  /** Milliseconds that a call waits for an approval; default without end. */
  approvalTimeoutMs?: number;
}
