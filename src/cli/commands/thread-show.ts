/** `everthread threads show`: reads the store, and needs no server. */
import type { Command } from 'commander';
import type { ThreadStore } from '../../store/store.ts';
import type { ThreadRecord } from '../../store/thread/thread-record.ts';
import {
  addCommon,
  type Cli,
  type CommonOptions,
  parseWhole,
  THREAD_ARGUMENT,
  withExitCode,
} from '../command.ts';
import { withStore } from '../connection/find-store.ts';
import { findThread } from '../connection/stored-thread.ts';
import { printJson, printLine, tone } from '../output/output.ts';
import { messageText, threadHeading } from '../output/thread-text.ts';

/** Default number of messages for text; JSON has all of them. */
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
      'Shows a thread and its messages, oldest first. With --json: { thread, activity, execution, children, budget, messages, total }; execution is the newest, activity is there while a model is waited for.',
    )
    .argument(...THREAD_ARGUMENT)
    .option('--limit <n>', `the newest n messages (default: ${SHOWN}; with --json all)`, parseWhole)
    .option('--silent', 'include messages that are hidden from ordinary lists')
    .option(
      '--debug',
      'include where in the code tools, hooks and effects have failed (with --json: faults)',
    );
  addCommon(command).action(withExitCode(cli, showThread));
}

async function showThread(threadId: string, options: ShowOptions): Promise<undefined> {
  const { json, project, limit = json ? ALL : SHOWN, silent: includeSilent, debug } = options;
  await withStore(project, async (store) => {
    const thread = await findThread(store, threadId);
    const { messages, total } = await store.messages.list(threadId, { limit, includeSilent });
    // The record's count is an upper bound: a thread that never had a child costs no read.
    const children = thread.childCount === 0 ? [] : await store.children.list(threadId);
    const execution = (await store.executions.get(threadId)) ?? undefined;
    const budget = await store.budgets.read(threadId);
    const activity = await readActivity(store, thread);
    const faultText = debug ? await import('../output/fault-text.ts') : undefined;
    const faults = await faultText?.readFaults(store, threadId);
    if (json) return printJson({ thread, activity, execution, children, budget, messages, total, faults });
    printLine(`${threadHeading(thread, { activity, children, execution, budget })}\n`);
    const earlier = total - messages.length;
    if (earlier > 0)
      printLine(
        tone('dim', `… ${earlier} earlier ${earlier === 1 ? 'message' : 'messages'}: --limit shows more\n`),
      );
    for (const message of messages) printLine(messageText(message));
    if (total === 0) printLine(tone('dim', 'no messages yet'));
    for (const fault of faults ?? []) printLine(`\n${faultText?.faultText(fault)}`);
    if (faults?.length === 0) printLine(tone('dim', '\nno code has failed'));
  });
  return undefined;
}

/** Rows of the log in which a wait for a model would stand; messages may have been queued behind it. */
const NEWEST_ROWS = 20;

/** What a running thread waits for; undefined if it is at work. */
async function readActivity(
  { events }: Pick<ThreadStore, 'events'>,
  { id, status, lastSeq }: ThreadRecord,
): Promise<string | undefined> {
  if (status !== 'running') return undefined;
  const rows = await events.read(id, Math.max(0, lastSeq - NEWEST_ROWS), NEWEST_ROWS);
  const newest = rows.findLast(({ type }) => /^(model|step|tool)\./.test(type));
  return newest?.type === 'model.held' ? `waiting for the model ${newest.data.model}` : undefined;
}
