/** What servers of MCP have told of their tools, as the executions of a thread use it: a part of the ThreadStore port. */

/** A tool as its server tells of it; bounded where it was read. */
export interface McpListedTool {
  /** Its name at the server. */
  readonly name: string;
  readonly description: string;
  /** JSON schema of an object. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly hints: Readonly<Record<string, boolean>>;
  /** Of all this: another one is another tool. */
  readonly digest: string;
}

export interface McpList {
  readonly server: string;
  /** Null where the server could not be asked; `code` says why. */
  readonly tools: readonly McpListedTool[] | null;
  readonly code: string | null;
  /** Microseconds. */
  readonly listedAt: number;
}

export interface KeepMcpList {
  readonly threadId: string;
  readonly server: string;
  readonly executionId: string;
  readonly step: number;
  readonly told:
    | { readonly tools: readonly McpListedTool[] }
    | { readonly code: string; readonly error: string };
}

export interface McpStore {
  /** The newest list of each server that the thread has asked in this execution. */
  list(threadId: string, executionId: string): Promise<readonly McpList[]>;
  /**
   * Keeps what a server has told, for the rest of the execution: a list that is kept already stays, and is the answer. In place of what an earlier
   * execution has kept; what is different from that is told in the log.
   */
  keep(command: KeepMcpList): Promise<McpList>;
}
