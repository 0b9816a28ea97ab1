/**
 * Servers of MCP as untrusted sides (docs/mcp.md): who calls is handed a result or an McpFailure, whatever they do. A library of its own.
 *
 *   reaching    `stdio` (with `guardian`) and `http`, two transports that count what they read; `connection`, one that is given up at its first
 *               fault; `connections`, those of this process
 *   asking      `list-tools`, `call-tool`; `limit` is what is taken at most, `failure` what can be wrong
 */
export { callTool, type McpAnswer, type McpAsks, type McpCall } from './call-tool.ts';
export type { AskTerms } from './connection.ts';
export { closeConnections, type McpPlace, withConnection } from './connections.ts';
export { isMcpFailure, type McpCode, McpFailure } from './failure.ts';
export { MCP_LIMITS } from './limit.ts';
export { type ListedTool, listTools } from './list-tools.ts';
