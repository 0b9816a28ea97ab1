/** Binds a command of the port to one database and to the way in which its engine runs commands. */
import type { CommandContext } from './context.ts';
import type { RunOptions } from './runner.ts';

type Command<Values extends readonly unknown[], Answer> = (
  context: CommandContext,
  ...values: Values
) => Promise<Answer>;

/** Returns a function that binds a command: its callers pass the arguments after the context. */
export function binder(context: CommandContext) {
  return <Values extends readonly unknown[], Answer>(
    command: Command<Values, Answer>,
    options?: RunOptions,
  ): ((...values: Values) => Promise<Answer>) => {
    return (...values) => context.run(() => command(context, ...values), options);
  };
}
