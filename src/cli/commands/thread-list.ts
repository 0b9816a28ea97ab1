/** `everthread threads list`: reads the store, and needs no server. */
import { type Command, Option } from 'commander';
import type { ThreadStatus } from '../../core/thread/step.ts';
import type { ThreadRecord } from '../../store/thread/thread-record.ts';
import { addCommon, type Cli, type CommonOptions, parseCount, withExitCode } from '../command.ts';
import { withStore } from '../connection/find-store.ts';
import { findThread } from '../connection/stored-thread.ts';
import { ageOf, dimNote, note, printJson, printLine, tone, toTable } from '../output/output.ts';
import { shorten } from '../output/terminal-text.ts';
import { statusTone } from '../output/thread-text.ts';

const STATUSES: readonly ThreadStatus[] = ['idle', 'running', 'waiting', 'stopped', 'failed', 'terminated'];
/** Default number of threads, for text and JSON alike. */
const DEFAULT_LIMIT = 50;
const MAX_BEGINNING = 48;

export function addThreadList(threads: Command, cli: Cli): void {
  const command = threads
    .command('list')
    .summary('list threads, the latest first')
    .description(
      'Lists the threads of the store, last changed first, with their age and how their conversations begin. ' +
        'With --json: { threads }.',
    )
    .addOption(new Option('--status <status>', 'only threads with this status').choices(STATUSES))
    .option('--agent <name>', 'only threads of this agent')
    .option('--user <id>', 'only threads of this user')
    .option('--organization <id>', 'only threads of this organisation')
    .option('--tag <tag>', 'only threads with this tag, last created first')
    .option('--parent <id>', 'only subagents of this thread')
    .option('--before <id>', 'only those after this thread: pass the last one shown for the next page')
    .option('--limit <n>', 'at most n threads', parseCount, DEFAULT_LIMIT);
  addCommon(command).action(withExitCode(cli, listThreads));
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
    const words = await store.threads.firstWords(threads.map(({ id }) => id));
    if (json) {
      return printJson({ threads: threads.map((each) => ({ ...each, firstWords: words[each.id] ?? null })) });
    }
    const filtered = place || Object.values(asked).some((value) => value !== undefined);
    if (threads.length === 0) return note(`No ${filtered ? 'matching threads' : 'threads yet'}.`);
    const families = threads.some(({ parentId }) => parentId !== null);
    const rows = threads.map((thread) => [
      thread.id,
      shorten(thread.agent, 30),
      thread.status,
      String(thread.lastStep),
      ageOf(thread.createdAt),
      ageOf(thread.updatedAt),
      ...(families ? [thread.parentId ?? '-'] : []),
      beginningText(thread, words[thread.id]),
    ]);
    const columns = [
      'THREAD',
      'AGENT',
      'STATUS',
      'STEPS',
      'AGE',
      'CHANGED',
      ...(families ? ['PARENT'] : []),
      'BEGINS WITH',
    ];
    const [heading, ...lines] = toTable([columns, ...rows]).split('\n');
    printLine(tone('dim', heading ?? ''));
    for (const [index, line] of lines.entries()) printLine(colourStatus(line, threads[index]));
    if (threads.length === limit)
      dimNote(`At most ${limit} are shown: --limit shows more, --before ${threads.at(-1)?.id} those after.`);
  });
  return undefined;
}

/** Returns the subagent's name, if it has one, and the first words of the thread. */
function beginningText({ name }: ThreadRecord, words = ''): string {
  return shorten([name, words].filter(Boolean).join(': '), MAX_BEGINNING);
}

function colourStatus(line: string, thread: ThreadRecord | undefined): string {
  return thread
    ? line.replace(` ${thread.status} `, ` ${tone(statusTone(thread.status), thread.status)} `)
    : line;
}
