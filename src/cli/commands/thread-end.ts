/**
 * `everthread threads stop`, `continue`, `cancel`, `terminate`: durable requests that the thread's worker carries out;
 * and `delete`, which needs no worker.
 */
import type { Command } from 'commander';
import {
  addCommon,
  addTaskQueue,
  type Cli,
  type CommonOptions,
  THREAD_ARGUMENT,
  withExitCode,
} from '../command.ts';
import { note, printJson } from '../output/output.ts';

interface EndOptions extends CommonOptions {
  readonly reason?: string;
  readonly taskQueue?: string;
}

export function addThreadStop(threads: Command, cli: Cli): void {
  const command = threads
    .command('stop')
    .summary('stop what a thread is doing now')
    .description(
      'Ends the current execution. The thread is kept; queued items wait for the next user message. ' +
        'With --json: { threadId, requested, running }; running is true if there was anything to stop.',
    );
  addEnd(command).action(withExitCode(cli, stopThread));
}

export function addThreadContinue(threads: Command, cli: Cli): void {
  const command = threads
    .command('continue')
    .summary('let a thread continue without another message')
    .description(
      'Lets a stopped thread continue with what had been queued. If nothing is queued, a new execution begins and continues from ' +
        'the history, as after a failure of a model. A running thread is left alone. With --json: { threadId, requested }.',
    )
    .argument(...THREAD_ARGUMENT);
  addCommon(addTaskQueue(command)).action(withExitCode(cli, continueThread));
}

async function continueThread(threadId: string, options: EndOptions): Promise<undefined> {
  const { withClient } = await import('../connection/open-client.ts');
  await withClient(options, (client) => client.continue(threadId));
  if (options.json) printJson({ threadId, requested: 'continue' });
  else note(`Asked thread ${threadId} to continue.`);
  return undefined;
}

interface CancelOptions extends EndOptions {
  readonly execution?: string;
  readonly by?: string;
}

export function addThreadCancel(threads: Command, cli: Cli): void {
  const command = threads
    .command('cancel')
    .summary('cancel an execution of a thread')
    .description(
      'Cancels what a thread is doing now: its model, tools, code and subagents are aborted, and their finished results are kept. ' +
        'Unlike after a stop, what others have queued is then processed. With --json: the execution.',
    )
    .option('--execution <id>', 'only if it is this one (default: the one that runs)')
    .option('--by <name>', 'who asks');
  addEnd(command).action(withExitCode(cli, cancelExecution));
}

async function cancelExecution(threadId: string, options: CancelOptions): Promise<undefined> {
  const { execution: executionId, reason, by } = options;
  const { withClient } = await import('../connection/open-client.ts');
  const canceled = await withClient(options, (client) =>
    client.cancelExecution(threadId, { executionId, reason, by }),
  );
  if (options.json) printJson(canceled);
  else note(`Asked thread ${threadId} to cancel execution ${canceled.id}.`);
  return undefined;
}

export function addThreadTerminate(threads: Command, cli: Cli): void {
  const command = threads
    .command('terminate')
    .summary('terminate a thread permanently')
    .description('Ends a thread permanently: nothing can be sent to it any more, everything stays readable.');
  addEnd(command).action(withExitCode(cli, terminateThread));
}

export function addThreadDelete(threads: Command, cli: Cli): void {
  const command = threads
    .command('delete')
    .summary('terminate a thread and delete its data')
    .description(
      'Ends a thread and all its descendants, and deletes their messages, logs, files, values, variables and workflow histories. ' +
        'This cannot be undone. With --json: { deleted, remaining }; remaining lists histories that the server keeps.',
    )
    .argument(...THREAD_ARGUMENT);
  addCommon(addTaskQueue(command)).action(withExitCode(cli, deleteThread));
}

async function deleteThread(threadId: string, options: EndOptions): Promise<undefined> {
  const { withClient } = await import('../connection/open-client.ts');
  const { deleted, remaining } = await withClient(options, (client) => client.deleteThread(threadId));
  if (options.json) printJson({ deleted, remaining });
  else
    note(`Deleted ${deleted.length === 1 ? 'thread' : `${deleted.length} threads:`} ${deleted.join(', ')}.`);
  for (const { workflowId, runId, until } of options.json ? [] : remaining) {
    const end = until === null ? 'its retention after its end' : new Date(until).toISOString();
    note(`The Temporal server keeps the history of run ${runId} of ${workflowId} until ${end}.`);
  }
  return undefined;
}

function addEnd(command: Command): Command {
  return addCommon(
    addTaskQueue(command.argument(...THREAD_ARGUMENT).option('--reason <text>', 'why; stored with it')),
  );
}

async function stopThread(threadId: string, options: EndOptions): Promise<undefined> {
  const { withClient } = await import('../connection/open-client.ts');
  const { findThread } = await import('../connection/find-thread.ts');
  // The stop is sent whatever the status was: something may begin in between.
  const running = await withClient(options, async (client) => {
    const before = await findThread(client, threadId);
    await client.stop(threadId, options.reason);
    return before === undefined || before.status === 'running' || before.status === 'waiting';
  });
  if (options.json) printJson({ threadId, requested: 'stop', running });
  else note(running ? `Asked thread ${threadId} to stop.` : `Nothing runs in thread ${threadId}.`);
  return undefined;
}

async function terminateThread(threadId: string, options: EndOptions): Promise<undefined> {
  const { withClient } = await import('../connection/open-client.ts');
  await withClient(options, (client) => client.terminate(threadId, options.reason));
  if (options.json) printJson({ threadId, requested: 'terminate' });
  else note(`Asked thread ${threadId} to end permanently.`);
  return undefined;
}
