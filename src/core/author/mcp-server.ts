/** A server of tools that speaks MCP (docs/mcp.md), as its author has declared it; what it says of itself is a stranger's word. */
import type { VariableDefinition } from './definition.ts';

export interface McpServerDefinition {
  readonly kind: 'mcp_server';
  /** From the file's name; set by discovery. */
  readonly name: string;
  readonly reach: McpReach;
  /** What its process, or its requests, are given of the thread's variables. */
  readonly variables: readonly VariableDefinition[];
  /** Names of its tools that may run more than once per call without harm; true: all of them. */
  readonly idempotent: true | readonly string[];
  /** Milliseconds for one call. */
  readonly timeoutMs: number;
  /** Milliseconds until it must have told what it offers. */
  readonly connectTimeoutMs: number;
  readonly approvalTimeoutMs?: number;
}

/** Texts may hold `{{NAME}}`, which stands for a variable that is declared. */
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

/** The variables that a text names. */
export function variablesIn(text: string): string[] {
  return [...text.matchAll(VARIABLE)].map(([, name]) => name as string);
}

/** The text with the values of its variables. */
export function fillVariables(text: string, values: ReadonlyMap<string, string>): string {
  return text.replace(VARIABLE, (_, name: string) => values.get(name) ?? '');
}
