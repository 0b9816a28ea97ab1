/** What servers of MCP have told of their tools. */
import type { Json } from './tables.ts';

/** Of one server, as an execution of the thread uses it. */
export interface McpListTable {
  thread_id: string;
  server: string;
  execution_id: string;
  /** ListedTool[]; null where it could not be asked. */
  tools: Json | null;
  /** Why not. */
  code: string | null;
  listed_at: number;
}
