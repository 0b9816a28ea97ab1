/** `everthread threads files`, `upload` and `values`: a thread's files and key-value store, in the store. */
import { createReadStream } from 'node:fs';
import { isTextType, mimeTypeOfName } from '../../core/file/mime-type.ts';
import type { FileRecord } from '../../core/file/thread-file.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { escapeControls, shorten } from '../../core/value/shown-text.ts';
import { streamFile } from '../../store/file/file-content.ts';
import type { ThreadStore } from '../../store/store.ts';
import { argument, option, optional, parseCount, THREAD } from '../command.ts';
import { readThread, storeCommand } from '../connection/find-store.ts';
import { listing } from '../output/listing.ts';
import { dateAndTime, note, printData, write } from '../output/output.ts';

export const threadFiles = storeCommand({
  description:
    'Lists a directory of the thread, / unless another one is given; prints a file if PATH is one. With --json: ' +
    '{ entries }, or { file } without its content.',
  arguments: { thread: THREAD, path: { help: 'a directory or a file', default: '/' } },
  async read(store, { thread, path, json }) {
    await readThread(store, thread);
    const file = await store.files.stat(thread, path);
    if (!file) throw new RuntimeError('FileNotFound', `Thread "${thread}" has no ${JSON.stringify(path)}.`);
    if (file.isDirectory) return listDirectory(store, thread, file);
    if (json) return { json: { file } };
    await printFile(store, thread, file);
    return undefined;
  },
});

async function listDirectory(store: ThreadStore, threadId: string, { path }: FileRecord) {
  const { entries } = await store.files.readdir(threadId, path);
  return listing('entries', entries, {
    columns: {
      BYTES: ({ isDirectory, size }) => (isDirectory ? null : String(size)),
      TYPE: ({ isDirectory, mimeType }) => (isDirectory ? 'directory' : shorten(mimeType, 40)),
      UPDATED: ({ updatedAt }) => dateAndTime(updatedAt * 1000),
      NAME: ({ isDirectory, name }) => shorten(name, 200) + (isDirectory ? '/' : ''),
    },
    none: 'The directory is empty.',
  });
}

/** Prints a file: unchanged to a pipe; to a terminal only if it is text, without control characters. */
async function printFile(store: ThreadStore, threadId: string, file: FileRecord): Promise<void> {
  const terminal = process.stdout.isTTY === true;
  if (terminal && !isTextType(file.mimeType)) {
    return note(
      `${file.path} is ${file.mimeType}, ${file.size} bytes; send it to a file: … threads files ${threadId} ${file.path} > FILE`,
    );
  }
  const decoder = new TextDecoder();
  for await (const { data, isLast } of (await streamFile(store, threadId, file.path)) ?? []) {
    if (terminal) write(escapeControls(decoder.decode(data, { stream: !isLast })));
    else await writeBytes(data);
  }
}

function writeBytes(data: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(data, (error) => (error ? reject(error) : resolve()));
  });
}

export const threadUpload = storeCommand({
  description:
    'Writes a file of the thread, of at most 100 MiB. A file at PATH is replaced once the upload is complete. With --json: { file }.',
  arguments: {
    thread: THREAD,
    path: argument('path in the thread, from /'),
    file: optional('a file of this machine (default: standard input)'),
  },
  options: { type: option('<type>', 'its media type (default: by the extension of PATH)') },
  async read(store, { thread, path, file: from, type: mimeType = mimeTypeOfName(path) }) {
    await readThread(store, thread);
    const content: AsyncIterable<Uint8Array> = from === undefined ? process.stdin : createReadStream(from);
    const file = await store.files.write(thread, { path, content, mimeType }).catch((cause) => {
      throw from !== undefined && cause?.path === from ? unreadable(from, cause) : cause;
    });
    return { json: { file }, note: `Wrote ${file.path} of thread ${thread}: ${file.size} bytes.` };
  },
});

function unreadable(from: string, cause: NodeJS.ErrnoException): RuntimeError {
  return new RuntimeError('InvalidValue', `${from} cannot be read: ${cause.message}.`, { cause });
}

export const threadValues = storeCommand({
  description:
    'Lists keys and values of the thread (state.setValue), or prints one value as JSON. With --json: { values }.',
  arguments: { thread: THREAD, key: optional('print only this value; null if there is none') },
  options: {
    after: option('<key>', 'only keys after this one'),
    limit: option('<n>', 'at most n values', parseCount, 100),
  },
  async read(store, { thread, key, after, limit }) {
    await readThread(store, thread);
    if (key !== undefined) {
      printData(await store.values.get(thread, key));
      return undefined;
    }
    return listing('values', await store.values.list(thread, { after, limit }), {
      columns: {
        KEY: ['key', 60],
        UPDATED: 'updatedAt',
        VALUE: ({ value }) => shorten(JSON.stringify(value), 200),
      },
      none: 'No values.',
      limit,
      more: () => '--limit and --after show more.',
    });
  },
});
