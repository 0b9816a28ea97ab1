/** Upper bounds of what is accepted from an agent (docs/a2a.md). */
export const A2A_LIMITS = {
  cardBytes: 256 * 1024,
  /** Bytes of the answer to one request; those of a stream together. */
  requestBytes: 16 * 1024 * 1024,
  idChars: 1000,
  /** Characters of a result's text that the model reads; a longer text is also attached whole, as a file. */
  textChars: 64 * 1024,
  /** Bytes of all files of a result, and their number. */
  fileBytes: 8 * 1024 * 1024,
  files: 20,
  /** Parts in all artifacts of a task; more are an error. */
  parts: 20_000,
  dataDepth: 64,
  /** A question of a task: characters of its text, and bytes of its data; the person who answers sees both. */
  questionChars: 2000,
  questionBytes: 8 * 1024,
  /** Questions of one task. */
  rounds: 50,
  /** Pages of a task list that are searched. */
  listPages: 4,
} as const;
