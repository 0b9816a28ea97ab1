/** `everthread threads upload`: streams a local file or standard input into a file of a thread in the store. */
import { createReadStream } from 'node:fs';
import type { Command } from 'commander';
import { mimeTypeOfName } from '../../core/file/mime-type.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { addCommon, type Cli, type CommonOptions, THREAD_ARGUMENT, withExitCode } from '../command.ts';
import { withStore } from '../connection/find-store.ts';
import { findThread } from '../connection/stored-thread.ts';
import { note, printJson } from '../output/output.ts';

interface UploadOptions extends CommonOptions {
  readonly type?: string;
}

export function addThreadUpload(threads: Command, cli: Cli): void {
  const command = threads
    .command('upload')
    .summary('write a file of a thread')
    .description(
      'Writes a file of the thread, of at most 100 MiB. A file at PATH is replaced once the upload is complete. With --json: { file }.',
    )
    .argument(...THREAD_ARGUMENT)
    .argument('<path>', 'path in the thread, from /')
    .argument('[file]', 'a file of this machine (default: standard input)')
    .option('--type <type>', 'its media type (default: by the extension of PATH)');
  addCommon(command).action(withExitCode(cli, upload));
}

async function upload(
  threadId: string,
  path: string,
  from: string | undefined,
  { project, json, type: mimeType = mimeTypeOfName(path) }: UploadOptions,
): Promise<undefined> {
  await withStore(project, async (store) => {
    await findThread(store, threadId);
    const content: AsyncIterable<Uint8Array> = from === undefined ? process.stdin : createReadStream(from);
    const file = await store.files.write(threadId, { path, content, mimeType }).catch((cause) => {
      throw from !== undefined && cause?.path === from ? unreadable(from, cause) : cause;
    });
    if (json) printJson({ file });
    else note(`Wrote ${file.path} of thread ${threadId}: ${file.size} bytes.`);
  });
  return undefined;
}

function unreadable(from: string, cause: NodeJS.ErrnoException): RuntimeError {
  return new RuntimeError('InvalidValue', `${from} cannot be read: ${cause.message}.`, { cause });
}
