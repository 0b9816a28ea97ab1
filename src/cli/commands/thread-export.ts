/**
 * `everthread threads export`: a thread's messages (transcript, from the store) or its workflow (history, from the
 * server, as JSON for a replay).
 */

import { writeFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { RuntimeError } from '../../core/value/error.ts';
import { errorMessage } from '../../core/value/thrown.ts';
import { addCommon, type Cli, type CommonOptions, THREAD_ARGUMENT, withExitCode } from '../command.ts';
import { showPath, withStore } from '../connection/find-store.ts';
import { findThread } from '../connection/stored-thread.ts';
import { note, printJson, write } from '../output/output.ts';

interface ExportOptions extends CommonOptions {
  readonly format: 'transcript' | 'history';
  readonly out?: string;
  readonly run?: string;
}

const NO_LIMIT = 1_000_000;
const GRPC_NOT_FOUND = 5;

export function addThreadExport(threads: Command, cli: Cli): void {
  const command = threads
    .command('export')
    .summary('write a thread or its Temporal history as JSON')
    .description(
      'transcript: { thread, messages } including silent messages, from the store. history: the Temporal history of the ' +
        "thread's newest workflow run, suitable for replay.",
    )
    .argument(...THREAD_ARGUMENT)
    .addOption(
      new Option('--format <format>', 'what to write')
        .choices(['transcript', 'history'])
        .default('transcript'),
    )
    .option('--out <file>', 'write to this file (default: standard output)')
    .option('--run <run-id>', 'history: an earlier run of the workflow');
  addCommon(command).action(withExitCode(cli, exportThread));
}

async function exportThread(threadId: string, options: ExportOptions): Promise<undefined> {
  const text =
    options.format === 'history'
      ? await readHistory(threadId, options)
      : await readTranscript(threadId, options);
  if (options.out === undefined) {
    write(text);
    return undefined;
  }
  writeExport(options.out, text);
  if (options.json)
    printJson({ threadId, format: options.format, file: options.out, bytes: Buffer.byteLength(text) });
  else note(`Wrote the ${options.format} of thread ${threadId} to ${showPath(options.out)}.`);
  return undefined;
}

async function readTranscript(threadId: string, { project }: ExportOptions): Promise<string> {
  return withStore(project, async (store) => {
    const thread = await findThread(store, threadId);
    const { messages } = await store.messages.list(threadId, {
      limit: NO_LIMIT,
      includeSilent: true,
      maxDepth: NO_LIMIT,
    });
    return `${JSON.stringify({ thread, messages }, null, 2)}\n`;
  });
}

async function readHistory(threadId: string, options: ExportOptions): Promise<string> {
  const [{ withClient }, { historyToJSON }, { WORKFLOW_ID_PREFIX }] = await Promise.all([
    import('../connection/open-client.ts'),
    import('@temporalio/common/lib/proto-utils.js'),
    import('../../core/thread/start-input.ts'),
  ]);
  return withClient(options, async (client) => {
    try {
      const handle = client.temporal.workflow.getHandle(WORKFLOW_ID_PREFIX + threadId, options.run);
      return `${historyToJSON(await handle.fetchHistory())}\n`;
    } catch (error) {
      if (!isNotFound(error)) throw error;
      throw new RuntimeError(
        'ThreadNotFound',
        `The Temporal server has no history of thread "${threadId}".`,
        { cause: error },
      );
    }
  });
}

function writeExport(file: string, text: string): void {
  try {
    // Readable only by the current user, since it holds messages. An existing file keeps its permissions.
    writeFileSync(file, text, { mode: 0o600 });
  } catch (cause) {
    throw new RuntimeError('InvalidConfiguration', `${file} cannot be written: ${errorMessage(cause)}`, {
      cause,
    });
  }
}

function isNotFound(error: unknown): boolean {
  const { name, code, cause } = error as { name?: string; code?: number; cause?: { code?: number } };
  return name === 'WorkflowNotFoundError' || code === GRPC_NOT_FOUND || cause?.code === GRPC_NOT_FOUND;
}
