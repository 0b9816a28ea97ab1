/** `everthread threads show`, `list` and `tail`: readers of the store, which need no server. */
import { type Command, Option } from 'commander';
import { followEvents } from '../../client/follow-events.ts';
import { followRun, followTangle, followTurns } from '../../client/follow-run.ts';
import type { ThreadStatus } from '../../core/thread/step.ts';
import { RuntimeError } from '../../core/value/error.ts';
import type { ThreadRecord, ThreadStore } from '../../store/port/thread-store.ts';
import { AnswerStream } from '../answer/answer-stream.ts';
import { TailPrinter } from '../answer/tail-printer.ts';
import { act, addCommon, type Cli, type CommonOptions, parseCount, parseWhole, THREAD } from '../command.ts';
import { commandName } from '../command-name.ts';
import { withStore } from '../connection/find-store.ts';
import { faultText, readFaults } from '../output/fault-text.ts';
import {
  dateAndTime,
  dimNote,
  note,
  printJson,
  printJsonLine,
  printLine,
  tone,
  toTable,
} from '../output/output.ts';
import { printRunEvents } from '../output/run-text.ts';
import { printTangle } from '../output/tangle-text.ts';
import { shorten } from '../output/terminal-text.ts';
import { messageText, statusTone, threadHeading } from '../output/thread-text.ts';
import { printTurns } from '../output/turn-text.ts';

const STATUSES: readonly ThreadStatus[] = ['idle', 'running', 'waiting', 'stopped', 'failed', 'terminated'];
/** The default for text; JSON has everything. */
const SHOWN = 50;
const ALL = 1_000_000;

interface ShowOptions extends CommonOptions {
  readonly limit?: number;
  readonly silent?: boolean;
  readonly debug?: boolean;
}

export function addThreadShow(threads: Command, cli: Cli): void {
  const command = threads
    .command('show')
    .summary("show a thread's status and messages")
    .description(
      'Shows a thread and its messages, oldest first. With --json: { thread, execution, children, budget, messages, total }; execution is the newest.',
    )
    .argument(...THREAD)
    .option('--limit <n>', `the newest n messages (default: ${SHOWN}; with --json all)`, parseWhole)
    .option('--silent', 'also messages that are hidden from ordinary lists')
    .option('--debug', 'also where in the code tools, hooks and effects have failed (with --json: faults)');
  addCommon(command).action(act(cli, showThread));
}

async function showThread(threadId: string, options: ShowOptions): Promise<undefined> {
  const { json, project, limit = json ? ALL : SHOWN, silent: includeSilent, debug } = options;
  await withStore(project, async (store) => {
    const thread = await findThread(store, threadId);
    const { messages, total } = await store.messages.list(threadId, { limit, includeSilent });
    // An upper bound from the thread's record: one that never had a child costs no read.
    const children = thread.childCount === 0 ? [] : await store.children.list(threadId);
    const execution = (await store.executions.get(threadId)) ?? undefined;
    const budget = await store.budgets.read(threadId);
    const faults = debug ? await readFaults(store, threadId) : undefined;
    if (json) return printJson({ thread, execution, children, budget, messages, total, faults });
    printLine(`${threadHeading(thread, { children, execution, budget })}\n`);
    const earlier = total - messages.length;
    if (earlier > 0)
      printLine(
        tone('dim', `… ${earlier} earlier ${earlier === 1 ? 'message' : 'messages'}: --limit shows more\n`),
      );
    for (const message of messages) printLine(messageText(message));
    if (total === 0) printLine(tone('dim', 'no messages yet'));
    for (const fault of faults ?? []) printLine(`\n${faultText(fault)}`);
    if (faults?.length === 0) printLine(tone('dim', '\nno code has failed'));
  });
  return undefined;
}

export function addThreadList(threads: Command, cli: Cli): void {
  const command = threads
    .command('list')
    .summary('list threads, the latest first')
    .description('Lists the threads of the store, those that changed last first. With --json: { threads }.')
    .addOption(new Option('--status <status>', 'only threads with this status').choices(STATUSES))
    .option('--agent <name>', 'only threads of this agent')
    .option('--user <id>', 'only threads of this user')
    .option('--organization <id>', 'only threads of this organisation')
    .option('--tag <tag>', 'only threads with this tag, those made last first')
    .option('--parent <id>', 'only subagents of this thread')
    .option('--before <id>', 'only those behind this thread: the last one of the page before')
    .option('--limit <n>', 'at most n threads', parseCount, SHOWN);
  addCommon(command).action(act(cli, listThreads));
}

interface ListOptions extends CommonOptions {
  readonly status?: ThreadStatus;
  readonly agent?: string;
  readonly user?: string;
  readonly organization?: string;
  readonly tag?: string;
  readonly parent?: string;
  readonly before?: string;
  readonly limit: number;
}

async function listThreads({ project, json, limit, before, ...filters }: ListOptions): Promise<undefined> {
  const { status, agent, user: userId, organization: organizationId, tag, parent: parentId } = filters;
  const asked = { status, agent, userId, organizationId, tag, parentId };
  await withStore(project, async (store) => {
    const place = before === undefined ? undefined : await findThread(store, before);
    const threads = await store.threads.list({ ...asked, before: place, limit });
    if (json) return printJson({ threads });
    const filtered = place || Object.values(asked).some((value) => value !== undefined);
    if (threads.length === 0) return note(`No threads${filtered ? ' like that' : ' yet'}.`);
    const families = threads.some(({ parentId }) => parentId !== null);
    const rows = threads.map((thread) => [
      thread.id,
      shorten(thread.agent, 30),
      thread.status,
      String(thread.lastStep),
      dateAndTime(thread.updatedAt),
      ...(families ? [thread.parentId ?? '-'] : []),
    ]);
    const columns = ['THREAD', 'AGENT', 'STATUS', 'STEPS', 'UPDATED', ...(families ? ['PARENT'] : [])];
    const [heading, ...lines] = toTable([columns, ...rows]).split('\n');
    printLine(tone('dim', heading ?? ''));
    for (const [index, line] of lines.entries()) printLine(colourStatus(line, threads[index]));
    if (threads.length === limit)
      dimNote(`At most ${limit} are shown: --limit shows more, --before ${threads.at(-1)?.id} those behind.`);
  });
  return undefined;
}

function colourStatus(line: string, thread: ThreadRecord | undefined): string {
  return thread
    ? line.replace(` ${thread.status} `, ` ${tone(statusTone(thread.status), thread.status)} `)
    : line;
}

export function addThreadTail(threads: Command, cli: Cli): void {
  const command = threads
    .command('tail')
    .summary('follow what a thread does')
    .description(
      'Shows what has happened in a thread and follows it: messages, answers token by token, tool calls and results. ' +
        'Ends when the thread is terminated, or with Ctrl-C. With --json each event is one line {seq, at, type, …}; ' +
        'the last seq is the cursor to go on from.',
    )
    .argument(...THREAD)
    .option('--after <seq>', 'only events after this one: its seq, or with --as its cursor')
    .addOption(
      new Option(
        '--as <reading>',
        'run: as RunEvents; agenticx: as its RuntimeEvents; tangle: as events of its boxes; one line each (docs/runs.md, docs/tangle.md)',
      ).choices(['run', 'agenticx', 'tangle']),
    )
    .option('--run <id>', 'with --as: the events of this execution alone')
    .option('--no-follow', 'end at the present end of the log');
  addCommon(command).action(act(cli, tailThread));
}

interface TailOptions extends CommonOptions {
  readonly after?: string;
  readonly follow: boolean;
  readonly as?: 'run' | 'agenticx' | 'tangle';
  readonly run?: string;
}

async function tailThread(threadId: string, options: TailOptions): Promise<undefined> {
  const { project, json, follow, as } = options;
  const after = as || options.after === undefined ? 0 : parseWhole(options.after);
  await withStore(project, async (store) => {
    await findThread(store, threadId);
    if (as === 'agenticx') return printTurns(followTurns(store, threadId, options), json);
    if (as === 'tangle') return printTangle(followTangle(store, threadId, options), json);
    if (as) return printRunEvents(followRun(store, threadId, options), json);
    const stream = new AnswerStream((id) => store.messages.get(threadId, id));
    const printer = new TailPrinter();
    for await (const event of followEvents(store, threadId, { after, follow })) {
      if (json) printJsonLine(event);
      else for (const part of await stream.read(event)) printer.show(part);
    }
  });
  return undefined;
}

export async function findThread(store: ThreadStore, threadId: string): Promise<ThreadRecord> {
  const thread = await store.threads.get(threadId);
  if (thread && thread.deletedAt === undefined) return thread;
  throw new RuntimeError(
    'ThreadNotFound',
    `Thread "${threadId}" is not in this store. A thread that was just started appears once a worker ("${commandName()} dev") has taken it.`,
  );
}
