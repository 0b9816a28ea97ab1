/** The author's declaration of an MCP server (docs/mcp.md). What the server says of itself is not trusted. */
import type { VariableDefinition } from './variable-definition.ts';

export interface McpServerDefinition {
  readonly kind: 'mcp_server';
  /** From the file's name; set by discovery. */
  readonly name: string;
  readonly reach: McpReach;
  /** Variables of the thread that its process, or its requests, receive. */
  readonly variables: readonly VariableDefinition[];
  /** Names of its tools that may run more than once per call without harm; true: all of them. */
  readonly idempotent: true | readonly string[];
  /** Milliseconds for one call. */
  readonly timeoutMs: number;
  /** Milliseconds until it must have listed its tools. */
  readonly connectTimeoutMs: number;
  readonly approvalTimeoutMs?: number;
}

/** How the server is reached. Texts may contain `{{NAME}}`, which is replaced by a declared variable. */
export type McpReach =
  | {
      readonly by: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      readonly cwd?: string;
      readonly env: Readonly<Record<string, string>>;
    }
  | { readonly by: 'http'; readonly url: string; readonly headers: Readonly<Record<string, string>> };

/** A tool of a server. */
export interface McpToolRef {
  readonly server: string;
  readonly tool: string;
}

const VARIABLE = /\{\{([A-Za-z_][A-Za-z0-9_]*)\}\}/g;

/** Returns the names of the variables that a text refers to. */
export function variablesIn(text: string): string[] {
  return [...text.matchAll(VARIABLE)].map(([, name]) => name as string);
}

/** Returns the text with the values of its variables filled in; a missing value is empty. */
export function fillVariables(text: string, values: ReadonlyMap<string, string>): string {
  return text.replace(VARIABLE, (_, name: string) => values.get(name) ?? '');
}
