/** `everthread threads tail`: reads the store, and needs no server. */
import { type Command, Option } from 'commander';
import { followEvents } from '../../client/follow-events.ts';
import { AnswerStream } from '../answer/answer-stream.ts';
import type { Reading } from '../answer/print-reading.ts';
import { TailPrinter } from '../answer/tail-printer.ts';
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
import { printJsonLine } from '../output/output.ts';

export function addThreadTail(threads: Command, cli: Cli): void {
  const command = threads
    .command('tail')
    .summary('follow what a thread does')
    .description(
      'Shows what has happened in a thread and follows it: messages, answers token by token, tool calls and results. ' +
        'Ends when the thread is terminated, or with Ctrl-C. With --json each event is one line {seq, at, type, …}; ' +
        'the last seq is the cursor to continue from.',
    )
    .argument(...THREAD_ARGUMENT)
    .option('--after <seq>', 'only events after this one: its seq, or with --as its cursor')
    .addOption(
      new Option(
        '--as <reading>',
        'run: as RunEvents; agenticx: as its RuntimeEvents; tangle: as events of its boxes; one line each (docs/runs.md, docs/tangle.md)',
      ).choices(['run', 'agenticx', 'tangle']),
    )
    .option('--run <id>', 'with --as: only the events of this execution')
    .option('--no-follow', 'exit at the current end of the log');
  addCommon(command).action(withExitCode(cli, tailThread));
}

interface TailOptions extends CommonOptions {
  readonly after?: string;
  readonly follow: boolean;
  readonly as?: Reading;
  readonly run?: string;
}

async function tailThread(threadId: string, options: TailOptions): Promise<undefined> {
  const { project, json, follow, as } = options;
  const after = as || options.after === undefined ? 0 : parseWhole(options.after);
  await withStore(project, async (store) => {
    await findThread(store, threadId);
    if (as) {
      const { printReading } = await import('../answer/print-reading.ts');
      return printReading(store, threadId, { ...options, as });
    }
    const stream = new AnswerStream((id) => store.messages.get(threadId, id));
    const printer = new TailPrinter();
    for await (const event of followEvents(store, threadId, { after, follow })) {
      if (json) printJsonLine(event);
      else for (const part of await stream.read(event)) printer.show(part);
    }
  });
  return undefined;
}
