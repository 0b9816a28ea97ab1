/** How an engine runs a command of the port. */
export interface RunOptions {
  /** No natural key makes a second time harmless: it is given once, whatever becomes of it. */
  readonly once?: boolean;
}

/** An engine may run a command again, where its failure says that this helps. */
export type Runner = <Answer>(command: () => Promise<Answer>, options?: RunOptions) => Promise<Answer>;

/** For an engine that waits for its locks by itself, as SQLite does here. */
export const runOnce: Runner = (command) => command();
