/** `everthread threads stop` and `terminate`. Both are requests: durable at once, carried out by the thread's worker. */
import type { Command } from 'commander';
import { act, addCommon, addTaskQueue, type Cli, type CommonOptions } from '../command.ts';
import { note, printJson } from '../output/output.ts';

interface EndOptions extends CommonOptions {
  readonly reason?: string;
  readonly taskQueue?: string;
}

export function addThreadStop(threads: Command, cli: Cli): void {
  const command = threads
    .command('stop')
    .summary('end what a thread is doing now')
    .description(
      'Ends the current execution. The thread stays; what is queued waits for the next user message.',
    );
  addEnd(command).action(act(cli, stopThread));
}

export function addThreadTerminate(threads: Command, cli: Cli): void {
  const command = threads
    .command('terminate')
    .summary('end a thread for ever')
    .description('Ends a thread for ever: nothing can be sent to it any more, everything stays readable.');
  addEnd(command).action(act(cli, terminateThread));
}

function addEnd(command: Command): Command {
  return addCommon(
    addTaskQueue(command.argument('<id>', 'id of the thread').option('--reason <text>', 'is stored with it')),
  );
}

async function stopThread(threadId: string, options: EndOptions): Promise<undefined> {
  const { withClient } = await import('../connection/open-client.ts');
  await withClient(options, (client) => client.stop(threadId, options.reason));
  if (options.json) printJson({ threadId, requested: 'stop' });
  else note(`Asked thread ${threadId} to stop.`);
  return undefined;
}

async function terminateThread(threadId: string, options: EndOptions): Promise<undefined> {
  const { withClient } = await import('../connection/open-client.ts');
  await withClient(options, (client) => client.terminate(threadId, options.reason));
  if (options.json) printJson({ threadId, requested: 'terminate' });
  else note(`Asked thread ${threadId} to end for ever.`);
  return undefined;
}
