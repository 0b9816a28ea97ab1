/**
 * A self-contained client for MCP servers (docs/mcp.md). They are untrusted: whatever one does, the caller receives a
 * result or an McpFailure.
 *
 *   connecting  `stdio` (with `guardian`) and `http`, two transports that count what they read; `connection`, closed at
 *               its first fault; `connections`, the pool of this process
 *   requests    `list-tools` (`tool-list` reads each for itself), `call-tool`; `limit` holds the upper bounds, `failure` the error codes
 */
export { callTool, type McpAnswer, type McpAsks, type McpCall } from './call-tool.ts';
export type { AskTerms } from './connection.ts';
export { closeConnections, type McpPlace, withConnection } from './connections.ts';
export { isMcpFailure, type McpCode, McpFailure } from './failure.ts';
export { MCP_LIMITS } from './limit.ts';
export { type ListedTool, type ListedTools, listTools } from './list-tools.ts';
