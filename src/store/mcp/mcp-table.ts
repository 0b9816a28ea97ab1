/** Tool lists of MCP servers. */
import type { Json } from '../schema/json.ts';

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
