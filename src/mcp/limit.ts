/** What is taken of a server at most (docs/mcp.md). */
export const MCP_LIMITS = {
  /** Bytes of one message. */
  messageBytes: 8 * 1024 * 1024,
  /** Bytes and messages that answer one request. */
  requestBytes: 16 * 1024 * 1024,
  requestMessages: 10_000,
  /** Pages of a list of tools. */
  listPages: 32,
  descriptionChars: 4096,
  schemaBytes: 64 * 1024,
  schemaDepth: 32,
  /** Bytes of a result's text, and of all its files. */
  resultBytes: 1024 * 1024,
  fileBytes: 8 * 1024 * 1024,
  files: 20,
  /** Of the state of a question, which is kept until its answer. */
  stateBytes: 16 * 1024,
  /** Rounds of questions in one call. */
  rounds: 10,
  /** Milliseconds that a connection is kept without a call. */
  idleMs: 30_000,
  /** Connections of a worker. */
  connections: 64,
} as const;

/** Of a schema: of a tool's arguments, and of what is asked for. */
export const SCHEMA_BOUND = { maxBytes: MCP_LIMITS.schemaBytes, maxDepth: MCP_LIMITS.schemaDepth };
