/** Upper bounds of what is accepted from a server (docs/mcp.md). */
export const MCP_LIMITS = {
  /** Bytes of one message. */
  messageBytes: 8 * 1024 * 1024,
  /** Bytes and messages of the answer to one request. */
  requestBytes: 16 * 1024 * 1024,
  requestMessages: 10_000,
  /** Pages of a list of tools. */
  listPages: 32,
  descriptionChars: 4096,
  schemaBytes: 64 * 1024,
  schemaDepth: 32,
  /** Bytes and number of a result's files: the rest is left out. */
  fileBytes: 8 * 1024 * 1024,
  files: 20,
  /** Bytes of a question's state, which is stored until the answer. */
  stateBytes: 16 * 1024,
  /** Rounds of questions in one call. */
  rounds: 10,
  /** Milliseconds that an idle connection is kept. */
  idleMs: 30_000,
  /** Idle connections that a worker keeps. */
  connections: 64,
} as const;

/** Bounds of a schema: of a tool's arguments, and of the answer to a question. */
export const SCHEMA_BOUND = { maxBytes: MCP_LIMITS.schemaBytes, maxDepth: MCP_LIMITS.schemaDepth };
