/** The options of the demo's command line. */
import { parseArgs } from 'node:util';

/** `library`: one conversation. `research`: a family of threads. `refund`: one that waits for a person. `web`: a page in a browser. `ui`: ours. */
export type Scenario = 'library' | 'research' | 'refund' | 'web' | 'ui';

export interface Options {
  readonly scenario: Scenario;
  readonly question: string;
  readonly keep: boolean;
  readonly early: boolean;
  readonly calm: boolean;
  readonly scripted: boolean;
  readonly help: boolean;
}

const QUESTION = 'A passenger was charged twice. What do we do, and who refunds it?';
const REFUND = 'Booking LF-2207 was charged twice. Please refund 42 euros.';
const RESEARCH = 'Who approves a refund of a double charge? Who leads when an incident is declared?';

export const HELP = `npm run demo [-- [research | refund | web | ui] [options] [question]]

Asks the librarian of agents/ a question and has it publish the answer, while the workers that run it are killed:
  worker A with SIGKILL while the model's answer streams, worker B while a tool runs that must not run twice.
Then asks for a count, which the model takes with a program of its own, in the sandbox; at last the look afterwards
comes that the lost tool had scheduled. A secret signs what is published, and is searched for where it must not be.
Shows what happens, counts from the store what was kept, and says what each crash cost. Takes about 40 seconds.

With research: a coordinator sends two researchers out, each a thread of its own, below its own in the Web UI. The worker
that carries all three is killed while both researchers speak. A reviewer, the coordinator's second side, asks for more
and approves. Prints the family tree. Takes about 40 seconds as well.

With refund: a cashier asks a person before it pays. Its worker is killed while it waits, the refund is approved with
the command, and the next worker pays what was shown, once. Takes about 20 seconds.

With web: a page of useChat, the AI SDK's hook, asks the question over HTTP. The worker is killed in mid-answer, and the page
goes on by itself. A browser of this machine opens it without a window, else you do. Takes about 20 seconds.

With ui: the page at /ui shows the thread while its worker is killed in mid-answer. A browser of this machine opens it
without a window, else you do. Takes about 20 seconds. With --keep it stays open to look around.

  question     default: "${QUESTION}"
               with research a sentence for each researcher: "${RESEARCH}"
               with refund a booking and an amount: "${REFUND}"
  --keep       leave the server and the last worker running until Ctrl-C, and say how to go on
  --early      kill worker B before the tool's effect instead of after it: the model then repeats the call
  --calm       with research and refund: kill no worker
  --scripted   use the scripted model even when a key is set
  --help       this text

Environment:
  OPENAI_API_KEY, OPENAI_BASE_URL, EVERTHREAD_MODEL   a real model instead of the scripted one
  TEMPORAL_ADDRESS (or a profile)                     your Temporal service instead of one of the demo's own
  EVERTHREAD_BROWSER                                  the program of a Chromium, for web and ui
  NO_COLOR                                            no colours

Files: .everthread/demo/ (store, the bulletin, logs), made anew by each run. Exit code 1 when a promise was broken.`;

const USUAL: Readonly<Record<Scenario, string>> = {
  library: QUESTION,
  research: RESEARCH,
  refund: REFUND,
  web: QUESTION,
  ui: QUESTION,
};
const SCENARIOS = ['research', 'refund', 'web', 'ui'] as const;

/** Throws a TypeError that names the unknown option. */
export function parseOptions(args: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      keep: { type: 'boolean', default: false },
      early: { type: 'boolean', default: false },
      calm: { type: 'boolean', default: false },
      scripted: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const scenario = SCENARIOS.find((name) => name === positionals[0]) ?? 'library';
  if (scenario === positionals[0]) positionals.shift();
  return { ...values, scenario, question: positionals.join(' ') || USUAL[scenario] };
}
