/** What is taken of an agent at most (docs/a2a.md). */
export const A2A_LIMITS = {
  cardBytes: 256 * 1024,
  /** Bytes that answer one request, a stream's included. */
  requestBytes: 16 * 1024 * 1024,
  idChars: 1000,
  /** Characters of a result's text that the model reads; the whole becomes a file. */
  textChars: 64 * 1024,
  /** Bytes of all files of a result, and their number. */
  fileBytes: 8 * 1024 * 1024,
  files: 20,
  /** Parts of a task that are read, in all its artifacts. */
  parts: 20_000,
  dataDepth: 64,
  /** Of what it asks: characters, and bytes of its data, which are shown to whoever answers. */
  questionChars: 2000,
  questionBytes: 8 * 1024,
  /** Questions of one task. */
  rounds: 50,
  /** Pages of a list of tasks that is looked through. */
  listPages: 4,
} as const;
