/** Tool lists of MCP servers, as the executions of a thread use them. */
import type { Json } from '../schema/column.ts';

/** A tool as described by its server; its size was limited when it was read. */
export interface McpListedTool {
  /** Name of the tool at the server. */
  readonly name: string;
  readonly description: string;
  /** JSON schema of an object. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly hints: Readonly<Record<string, boolean>>;
  /** Digest of all fields above; a different digest means a different tool. */
  readonly digest: string;
}

export interface McpList {
  readonly server: string;
  /** Null if the server could not be queried; `code` is then the error code. */
  readonly tools: readonly McpListedTool[] | null;
  readonly code: string | null;
  /** Microseconds since 1970. */
  readonly listedAt: number;
}

export interface SaveMcpList {
  readonly threadId: string;
  readonly server: string;
  readonly executionId: string;
  readonly step: number;
  readonly told:
    | {
        readonly tools: readonly McpListedTool[];
        /** Wanted tools that cannot be offered, and why: logged. */
        readonly left?: readonly { readonly tool: string; readonly why: string }[];
      }
    | { readonly code: string; readonly error: string };
}

/** The tool list of one server, as an execution of the thread uses it. */
export interface McpListTable {
  thread_id: string;
  server: string;
  execution_id: string;
  /** McpListedTool[], as last received from the server; null if nothing ever was. */
  tools: Json | null;
  /** Error code if the server could not be queried in this execution; null if it was. */
  code: string | null;
  listed_at: number;
}
