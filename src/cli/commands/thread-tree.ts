/** `everthread threads tree`: a thread with all its descendants. Reads the store, and needs no server. */
import type { Command } from 'commander';
import { addCommon, type Cli, type CommonOptions, THREAD_ARGUMENT, withExitCode } from '../command.ts';
import { withStore } from '../connection/find-store.ts';
import { findThread } from '../connection/stored-thread.ts';
import { printJson, printLine } from '../output/output.ts';
import { treeLines } from '../output/tree-text.ts';

export function addThreadTree(threads: Command, cli: Cli): void {
  const command = threads
    .command('tree')
    .summary('show a thread with its subagents')
    .description(
      'Shows a thread with all its descendants, each below its parent. ' +
        'With --json: { threads: [{ depth, thread, child }] }, each after its parent.',
    )
    .argument(...THREAD_ARGUMENT);
  addCommon(command).action(withExitCode(cli, showTree));
}

async function showTree(threadId: string, { project, json }: CommonOptions): Promise<undefined> {
  await withStore(project, async (store) => {
    await findThread(store, threadId);
    const threads = await store.family.read(threadId);
    if (json) return printJson({ threads });
    for (const line of treeLines(threads)) printLine(line);
  });
  return undefined;
}
