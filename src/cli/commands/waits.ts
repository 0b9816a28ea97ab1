/**
 * `everthread waits …`: questions to people, and their answers. Reading needs only the store; an answer is also sent to
 * the thread.
 */
import { text } from 'node:stream/consumers';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { RuntimeClient } from '../../client/runtime-client.ts';
import { StoredThreads } from '../../client/stored-threads.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { WAIT_SCOPES, type WaitAnswer, type WaitScope } from '../../core/wait/answer.ts';
import { asksForSecrets, WAIT_STATES, type WaitOutcome, type WaitState } from '../../core/wait/wait.ts';
import type { Wait } from '../../store/wait/wait-record.ts';
import {
  addCommon,
  addTaskQueue,
  type Cli,
  type CommonOptions,
  GROUPS,
  parseCount,
  withExitCode,
} from '../command.ts';
import { withStore } from '../connection/find-store.ts';
import { findThread } from '../connection/stored-thread.ts';
import { EXIT, printFailure } from '../exit.ts';
import { dateAndTime, dimNote, note, printJson, printLine, tone, toTable } from '../output/output.ts';
import { escapeControls, shorten } from '../output/terminal-text.ts';

const SHOWN = 50;
const SUMMARY = 80;

interface ListOptions extends CommonOptions {
  readonly state: WaitState;
  readonly limit: number;
}

interface AnswerOptions extends CommonOptions {
  readonly approve?: boolean;
  readonly deny?: boolean;
  readonly value?: unknown;
  readonly valueStdin?: boolean;
  readonly scope?: WaitScope;
  readonly by?: string;
  readonly reason?: string;
  readonly fingerprint?: string;
  readonly taskQueue?: string;
}

const ANSWER_HELP = `
Examples:
  everthread waits answer 4f2a… --approve --by ada
  everthread waits answer 4f2a… --deny --reason "not today"
  everthread waits answer 4f2a… --value '"Ada Lovelace"'
  everthread waits answer 4f2a… --value-stdin < answer.json   (a secret value, never on a command line)`;

export function addWaits(program: Command, cli: Cli): void {
  const waits = program
    .command('waits')
    .helpGroup(GROUPS.talk)
    .summary('list and answer approvals and questions: see "everthread waits --help"')
    .description(
      'Approvals, questions of tools and variables that subagents lack. Waiting work occupies no process; it continues once there is an answer.',
    );
  const list = waits
    .command('list')
    .summary('list open waits, oldest first')
    .description(
      'Lists open waits: of all threads, or of one, with its family if it is the root. With --json: { waits }.',
    )
    .argument('[thread]', 'id of a thread')
    .addOption(new Option('--state <state>', 'only those in this state').choices(WAIT_STATES).default('open'))
    .option('--limit <n>', 'at most n', parseCount, SHOWN);
  addCommon(list).action(withExitCode(cli, listWaits));
  const show = waits
    .command('show')
    .summary('show a wait with all that it asks')
    .description('Shows a wait: what it asks, the details shown with it, and the answer.')
    .argument('<id>', 'id of the wait');
  addCommon(show).action(withExitCode(cli, showWait));
  const answer = waits
    .command('answer')
    .summary('answer a wait')
    .description(
      'Stores the answer and notifies the thread. The first answer counts; repeating it is harmless. ' +
        'Exit codes: 0 if it counts, 3 if there is no such wait or its thread is terminated, else 1.',
    )
    .argument('<id>', 'id of the wait')
    .option('--approve', 'yes')
    .option('--deny', 'no; refuses a wait of any kind')
    .option('--value <json>', 'the value that is asked for', parseJson)
    .option('--value-stdin', 'the same, as JSON from standard input: for secret values')
    .addOption(new Option('--scope <scope>', 'how far an approval reaches').choices(WAIT_SCOPES))
    .option('--by <name>', 'who answers')
    .option('--reason <text>', 'why')
    .option('--fingerprint <text>', 'of what was shown: if it has changed since, the answer does not count')
    .addHelpText('after', ANSWER_HELP);
  addCommon(addTaskQueue(answer)).action(withExitCode(cli, answerWait));
}

function parseJson(given: string): unknown {
  try {
    return JSON.parse(given);
  } catch {
    throw new InvalidArgumentError(`Give JSON; a text in quotes, such as '"Ada"'.`);
  }
}

async function listWaits(
  threadId: string | undefined,
  { project, json, state, limit }: ListOptions,
): Promise<undefined> {
  await withStore(project, async (store) => {
    if (threadId !== undefined) await findThread(store, threadId);
    const waits = await store.waits.list({ threadId, state, limit });
    if (json) return printJson({ waits });
    if (waits.length === 0) return note(state === 'open' ? 'There are no open waits.' : 'No matching waits.');
    const rows = waits.map((wait) => [
      wait.id,
      wait.threadId,
      wait.kind,
      shorten(wait.name, 30),
      dateAndTime(wait.openedAt),
      wait.expiresAt === null ? '-' : dateAndTime(wait.expiresAt),
      shorten(wait.summary, SUMMARY),
    ]);
    const columns = ['WAIT', 'THREAD', 'KIND', 'NAME', 'ASKED', 'UNTIL', 'WHAT'];
    const [heading = '', ...lines] = toTable([columns, ...rows]).split('\n');
    printLine(tone('dim', heading));
    for (const line of lines) printLine(line);
    if (waits.length === limit) dimNote(`At most ${limit} are shown: --limit shows more.`);
  });
  return undefined;
}

async function showWait(id: string, { project, json }: CommonOptions): Promise<undefined> {
  await withStore(project, async (store) => {
    const wait = await new StoredThreads(store).getWait(id);
    if (json) return printJson(wait);
    printLine(escapeControls(toTable(describe(wait))));
  });
  return undefined;
}

function describe(wait: Wait): string[][] {
  const { answer, reason, fingerprint, expiresAt, endedAt } = wait;
  return [
    ['wait', wait.id],
    ['thread', wait.threadId],
    ['kind', wait.kind],
    ['name', wait.name],
    ['asks', wait.summary],
    ...(wait.data === null ? [] : [['shows', JSON.stringify(wait.data)]]),
    ...(fingerprint === null ? [] : [['fingerprint', fingerprint]]),
    ['asked', dateAndTime(wait.openedAt)],
    ...(expiresAt === null ? [] : [['until', dateAndTime(expiresAt)]]),
    ['state', `${wait.state}${reason === null ? '' : ` (${reason})`}`],
    ...(endedAt === null ? [] : [['ended', dateAndTime(endedAt)]]),
    ...(answer === null ? [] : [['answer', JSON.stringify(answer)]]),
  ];
}

async function answerWait(id: string, options: AnswerOptions): Promise<number> {
  const answer = await readAnswer(options);
  const { fingerprint, json } = options;
  const { withClient } = await import('../connection/open-client.ts');
  return withClient(options, async (client) => {
    if (options.value !== undefined) await refuseSecrets(client, id);
    const { outcome } = await client.answerWait(id, answer, { fingerprint });
    const threadId = outcome === 'unknown' ? undefined : (await client.getWait(id)).threadId;
    const ended = threadId !== undefined && (await client.getThread(threadId)).terminatedAt !== null;
    if (json) printJson({ id, ...(threadId === undefined ? {} : { threadId }), outcome });
    else printOutcome(id, outcome, ended);
    if (outcome === 'taken' || outcome === 'duplicate') return EXIT.done;
    return outcome === 'unknown' || ended ? EXIT.notFound : EXIT.failed;
  });
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

async function readAnswer(options: AnswerOptions): Promise<WaitAnswer> {
  const { approve, deny, value, valueStdin, scope, by, reason } = options;
  const given = [approve, deny, value !== undefined, valueStdin].filter(Boolean).length;
  if (given !== 1) {
    throw new RuntimeError('InvalidValue', 'Give one of --approve, --deny, --value JSON and --value-stdin.');
  }
  const signed = by === undefined ? {} : { by };
  if (approve || deny) {
    return {
      approved: approve === true,
      ...(reason === undefined ? {} : { reason }),
      ...(scope === undefined ? {} : { scope }),
      ...signed,
    };
  }
  if (reason !== undefined || scope !== undefined)
    throw new RuntimeError('InvalidValue', '--reason and --scope belong to --approve and --deny.');
  return { value: valueStdin ? await readJson() : value, ...signed };
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
