/** A command of the port, bound to one database and to the way in which its engine runs commands. */
import type { CommandContext } from './context.ts';

export interface RunOptions {
  /** No natural key makes a second time harmless: it is given once, whatever becomes of it. */
  readonly once?: boolean;
}

/** An engine may run a command again, where its failure says that this helps. */
export type Runner = <Answer>(command: () => Promise<Answer>, options?: RunOptions) => Promise<Answer>;

/** For an engine that waits for its locks by itself, as SQLite does here. */
export const runOnce: Runner = (command) => command();

type Command<Values extends readonly unknown[], Answer> = (
  context: CommandContext,
  ...values: Values
) => Promise<Answer>;

/** Answers a function that binds a command: its callers give what comes behind the context. */
export function binder(context: CommandContext) {
  return <Values extends readonly unknown[], Answer>(
    command: Command<Values, Answer>,
    options?: RunOptions,
  ): ((...values: Values) => Promise<Answer>) => {
    return (...values) => context.run(() => command(context, ...values), options);
  };
}
