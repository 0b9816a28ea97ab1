/**
 * `everthread threads export`: a thread's messages (transcript, from the store) or its workflow (history, from the
 * server, as JSON for a replay).
 */

import { writeFileSync } from 'node:fs';
import { RuntimeError } from '../../core/value/error.ts';
import { errorMessage } from '../../core/value/thrown.ts';
import { type CommonOptions, command, option, THREAD } from '../command.ts';
import { readThread, showPath, withStore } from '../connection/find-store.ts';
import { write } from '../output/output.ts';

const NO_LIMIT = 1_000_000;
const GRPC_NOT_FOUND = 5;

export const threadExport = command({
  description:
    'transcript: { thread, messages } including silent messages, from the store. history: the Temporal history of the ' +
    "thread's newest workflow run, suitable for replay.",
  arguments: { thread: THREAD },
  options: {
    format: option('<format>', 'what to write', ['transcript', 'history'] as const, 'transcript'),
    out: option('<file>', 'write to this file (default: standard output)'),
    run: option('<run-id>', 'history: an earlier run of the workflow'),
  },
  async run({ thread: threadId, format, out, ...options }) {
    const read = format === 'history' ? readHistory : readTranscript;
    const text = await read(threadId, options);
    if (out === undefined) {
      write(text);
      return undefined;
    }
    writeExport(out, text);
    return {
      json: { threadId, format, file: out, bytes: Buffer.byteLength(text) },
      note: `Wrote the ${format} of thread ${threadId} to ${showPath(out)}.`,
    };
  },
});

async function readTranscript(threadId: string, { project }: CommonOptions): Promise<string> {
  return withStore(project, async (store) => {
    const thread = await readThread(store, threadId);
    const { messages } = await store.messages.list(threadId, {
      limit: NO_LIMIT,
      includeSilent: true,
      maxDepth: NO_LIMIT,
    });
    return `${JSON.stringify({ thread, messages }, null, 2)}\n`;
  });
}

async function readHistory(
  threadId: string,
  options: CommonOptions & { readonly run: string | undefined },
): Promise<string> {
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
