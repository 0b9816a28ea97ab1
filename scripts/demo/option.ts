/** What can be said on the demo's command line. */
import { parseArgs } from 'node:util';

export interface Options {
  readonly question: string;
  readonly keep: boolean;
  readonly early: boolean;
  readonly scripted: boolean;
  readonly help: boolean;
}

const QUESTION = 'A passenger was charged twice. What do we do, and who refunds it?';

export const HELP = `npm run demo [-- [options] [question]]

Asks the librarian of agents/ a question and has it publish the answer, while the workers that run it are killed:
  worker A with SIGKILL while the model's answer streams, worker B while a tool runs that must not run twice.
Then asks for a count, which the model takes with a program of its own, in the sandbox.
Shows what happens, counts from the store what was kept, and says what each crash cost. Takes about half a minute.

  question     default: "${QUESTION}"
  --keep       leave the server and the last worker running until Ctrl-C, and say how to go on
  --early      kill worker B before the tool's effect instead of after it: the model then repeats the call
  --scripted   use the scripted model even when a key is set
  --help       this text

Environment:
  OPENAI_API_KEY, OPENAI_BASE_URL, EVERTHREAD_MODEL   a real model instead of the scripted one
  TEMPORAL_ADDRESS (or a profile)                     your Temporal service instead of one of the demo's own
  NO_COLOR                                            no colours

Files: .everthread/demo/ (store, the bulletin, logs), made anew by each run. Exit code 1 when a promise was broken.`;

/** Throws a TypeError that names the option it does not know. */
export function parseOptions(args: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      keep: { type: 'boolean', default: false },
      early: { type: 'boolean', default: false },
      scripted: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  return { ...values, question: positionals.join(' ') || QUESTION };
}
