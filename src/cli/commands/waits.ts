/**
 * `everthread waits …`: questions to people, and their answers. Reading needs only the store; an answer is also sent to
 * the thread.
 */
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { InvalidArgumentError } from 'commander';
import type { RuntimeClient } from '../../client/runtime-client.ts';
import { StoredThreads } from '../../client/stored-threads.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { parseRecord } from '../../core/value/record.ts';
import { GRANT_COVERS, WAIT_SCOPES, type WaitAnswer } from '../../core/wait/answer.ts';
import { asksForSecrets, WAIT_STATES, type WaitOutcome } from '../../core/wait/wait.ts';
import {
  argument,
  type CommandDefinition,
  command,
  option,
  optional,
  parseCount,
  TASK_QUEUE,
  toggle,
  type Values,
} from '../command.ts';
import { readThread, storeCommand } from '../connection/find-store.ts';
import { EXIT, printFailure } from '../exit.ts';
import { fieldLines, fieldsText, listing } from '../output/listing.ts';
import { dateAndTime, note, printJson } from '../output/output.ts';

const list = storeCommand({
  summary: 'list open waits, oldest first',
  description:
    'Lists open waits: of all threads, or of one, with its family if it is the root. With --json: { waits }.',
  arguments: { thread: optional('id of a thread', 'thread') },
  options: {
    state: option('<state>', 'only those in this state', WAIT_STATES, 'open'),
    older: option('<age>', 'only those that were opened longer ago, such as 90s, 30m, 2h or 1d', parseAge),
    limit: option('<n>', 'at most n', parseCount, 50),
  },
  async read(store, { thread: threadId, state, older, limit }) {
    if (threadId !== undefined) await readThread(store, threadId);
    const openedBefore = older === undefined ? undefined : Date.now() * 1000 - older;
    return listing('waits', await store.waits.list({ threadId, state, openedBefore, limit }), {
      columns: {
        WAIT: 'id',
        THREAD: 'threadId',
        KIND: 'kind',
        NAME: ['name', 30],
        ASKED: 'openedAt',
        UNTIL: ({ expiresAt }) => (expiresAt === null ? '-' : dateAndTime(expiresAt)),
        WHAT: ['summary', 80],
      },
      none: state === 'open' ? 'There are no open waits.' : 'No matching waits.',
      limit,
      more: () => '--limit shows more.',
    });
  },
});

const ID = argument('id of the wait', 'wait');

const show = storeCommand({
  summary: 'show a wait with all that it asks',
  description: 'Shows a wait: what it asks, the details shown with it, and the answer.',
  arguments: { id: ID },
  async read(store, { id }) {
    const wait = await new StoredThreads(store).getWait(id);
    const fields = fieldLines(wait, {
      wait: 'id',
      thread: 'threadId',
      kind: 'kind',
      name: 'name',
      asks: 'summary',
      shows: ({ data }) => (data === null ? null : JSON.stringify(data)),
      fingerprint: 'fingerprint',
      asked: 'openedAt',
      until: 'expiresAt',
      state: ({ state, reason }) => `${state}${reason === null ? '' : ` (${reason})`}`,
      ended: 'endedAt',
      answer: 'answer',
    });
    return { json: wait, text: fieldsText(fields) };
  },
});

const ANSWER = {
  approve: toggle('yes'),
  deny: toggle('no; refuses a wait of any kind'),
  value: option<unknown>('<json>', 'the value that is asked for', parseJson),
  valueStdin: toggle('the same, as JSON from standard input: for secret values'),
  argumentsFile: option(
    '<file>',
    'with --approve: what the call runs with, in place of all its arguments; JSON, "-" for standard input',
  ),
  scope: option('<scope>', 'how far an approval reaches', WAIT_SCOPES),
  covers: option(
    '<what>',
    'with a wider --scope: calls with the same arguments, or every call of the tool',
    GRANT_COVERS,
  ),
  until: option('<time>', 'with a wider --scope: when it ends, such as 2027-01-31T08:00Z', parseTime),
  by: option('<name>', 'who answers'),
  reason: option('<text>', 'why'),
};

const answer = command({
  summary: 'answer a wait',
  description:
    'Stores the answer and notifies the thread. The first answer counts; repeating it is harmless. ' +
    'Exit codes: 0 if it counts, 3 if there is no such wait or its thread is terminated, else 1.',
  arguments: { id: ID },
  options: {
    ...ANSWER,
    fingerprint: option('<text>', 'of what was shown: if it has changed since, the answer does not count'),
    ...TASK_QUEUE,
  },
  help: `
Examples:
  everthread waits answer 4f2a… --approve --by ada
  everthread waits answer 4f2a… --deny --reason "not today"
  everthread waits answer 4f2a… --approve --arguments-file changed.json
  everthread waits answer 4f2a… --approve --scope thread --covers tool
  everthread waits answer 4f2a… --value '"Ada Lovelace"'
  everthread waits answer 4f2a… --value-stdin < answer.json   (a secret value, never on a command line)`,
  async run({ id, fingerprint, ...options }) {
    const given = await readAnswer(options);
    const { withClient } = await import('../connection/open-client.ts');
    return withClient(options, async (client) => {
      if (options.value !== undefined) await refuseSecrets(client, id);
      const { outcome } = await client.answerWait(id, given, { fingerprint });
      const threadId = outcome === 'unknown' ? undefined : (await client.getWait(id)).threadId;
      const ended = threadId !== undefined && (await client.getThread(threadId)).terminatedAt !== null;
      if (options.json) printJson({ id, threadId, outcome });
      else printOutcome(id, outcome, ended);
      if (outcome === 'taken' || outcome === 'duplicate') return EXIT.done;
      return outcome === 'unknown' || ended ? EXIT.notFound : EXIT.failed;
    });
  },
});

export const waitCommands: CommandDefinition = {
  description:
    'Approvals, questions of tools and variables that subagents lack. Waiting work occupies no process; it continues once there is an answer.',
  commands: { list, show, answer },
};

const SECONDS = { s: 1, m: 60, h: 3600, d: 86_400 } as const;

/** Microseconds. */
function parseAge(given: string): number {
  const [, count = '', unit = 's'] = /^(\d+)([smhd])$/.exec(given) ?? [];
  if (count === '') throw new InvalidArgumentError('Give an age, such as 90s, 30m, 2h or 1d.');
  return Number(count) * SECONDS[unit as keyof typeof SECONDS] * 1_000_000;
}

/** Microseconds since 1970. */
function parseTime(given: string): number {
  const at = Date.parse(given);
  if (Number.isNaN(at)) throw new InvalidArgumentError('Give a time, such as 2027-01-31T08:00Z.');
  return at * 1000;
}

function parseJson(given: string): unknown {
  try {
    return JSON.parse(given);
  } catch {
    throw new InvalidArgumentError(`Give JSON; a text in quotes, such as '"Ada"'.`);
  }
}

/** Throws `InvalidValue` if the wait asks for secrets: other users of the machine can read a command line. */
async function refuseSecrets(client: Pick<RuntimeClient, 'getWait'>, id: string): Promise<void> {
  const wait = await client.getWait(id).catch(() => undefined);
  if (wait && asksForSecrets(wait))
    throw new RuntimeError(
      'InvalidValue',
      `The wait "${id}" asks for secret variables: give their values with --value-stdin, as { "NAME": "…" }.`,
    );
}

async function readAnswer(options: Values<typeof ANSWER>): Promise<WaitAnswer> {
  const { approve, deny, value, valueStdin, argumentsFile, scope, covers, until, by, reason } = options;
  const given = [approve, deny, value !== undefined, valueStdin].filter(Boolean).length;
  if (given !== 1) {
    throw new RuntimeError('InvalidValue', 'Give one of --approve, --deny, --value JSON and --value-stdin.');
  }
  if (argumentsFile !== undefined && !approve)
    throw new RuntimeError('InvalidValue', '--arguments-file belongs to --approve.');
  const changed = argumentsFile === undefined ? undefined : await readArguments(argumentsFile);
  if (approve || deny)
    return { approved: approve === true, reason, scope, covers, until, by, arguments: changed };
  if ([reason, scope, covers, until].some((each) => each !== undefined))
    throw new RuntimeError(
      'InvalidValue',
      '--reason, --scope, --covers and --until belong to --approve and --deny.',
    );
  return { value: valueStdin ? await readJson() : value, by };
}

/** Reads a value from standard input. It may be a secret, so the error contains nothing of it. */
async function readJson(): Promise<unknown> {
  try {
    return JSON.parse(await text(process.stdin));
  } catch {
    throw new RuntimeError(
      'InvalidValue',
      `Standard input is not JSON; a text is written in quotes, such as '"Ada"'.`,
    );
  }
}

/** They may have secrets too. */
async function readArguments(path: string): Promise<Readonly<Record<string, unknown>>> {
  const given =
    path === '-' ? await text(process.stdin) : await readFile(path, 'utf8').catch(() => undefined);
  const name = path === '-' ? 'Standard input' : `The file ${JSON.stringify(path)}`;
  if (given === undefined) throw new RuntimeError('InvalidValue', `${name} cannot be read.`);
  const changed = parseRecord(given);
  if (changed) return changed;
  throw new RuntimeError('InvalidValue', `${name} is not a JSON object with the arguments of the call.`);
}

function printOutcome(id: string, outcome: WaitOutcome, ended: boolean): void {
  if (outcome === 'taken') note(`Answered ${id}.`);
  else if (outcome === 'duplicate') note(`${id} has this answer already.`);
  else if (outcome === 'unknown')
    printFailure('WaitNotFound', `There is no wait ${JSON.stringify(id)} in this store.`);
  else if (ended)
    printFailure('ThreadTerminated', `Wait ${id} needs no answer any more: its thread is terminated.`);
  else printFailure(outcome, `The answer to ${id} does not count: ${REJECTION_REASONS[outcome]}.`);
}

const REJECTION_REASONS = {
  already_answered: 'another answer came first; "everthread waits show" shows it',
  stale: 'what would be done has changed since it was shown',
  expired: 'the wait has expired',
  closed: 'it is no longer needed',
} as const;
