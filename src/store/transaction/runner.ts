/** How an engine runs a command of the store. */
export interface RunOptions {
  /** True if no natural key makes a repetition harmless: the engine runs the command once, even if it fails. */
  readonly once?: boolean;
}

/** Runs a command; an engine may repeat it if the error says that a retry helps. */
export type Runner = <Answer>(command: () => Promise<Answer>, options?: RunOptions) => Promise<Answer>;

/** For an engine that waits for its locks by itself, as SQLite does here. */
export const runOnce: Runner = (command) => command();
