/** `everthread threads files` and `values`: a thread's files and key-value store, read from the store. */
import type { Command } from 'commander';
import { isTextType } from '../../core/file/mime-type.ts';
import type { FileRecord } from '../../core/file/thread-file.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { streamFile } from '../../store/file/file-content.ts';
import type { ThreadStore } from '../../store/store.ts';
import {
  addCommon,
  type Cli,
  type CommonOptions,
  parseCount,
  THREAD_ARGUMENT,
  withExitCode,
} from '../command.ts';
import { withStore } from '../connection/find-store.ts';
import { findThread } from '../connection/stored-thread.ts';
import {
  dateAndTime,
  dimNote,
  note,
  printData,
  printJson,
  printLine,
  tone,
  toTable,
  write,
} from '../output/output.ts';
import { escapeControls, shorten } from '../output/terminal-text.ts';

export function addThreadFiles(threads: Command, cli: Cli): void {
  const command = threads
    .command('files')
    .summary('list the files of a thread, or print one')
    .description(
      'Lists a directory of the thread, / unless another one is given; prints a file if PATH is one. With --json: ' +
        '{ entries }, or { file } without its content.',
    )
    .argument(...THREAD_ARGUMENT)
    .argument('[path]', 'a directory or a file', '/');
  addCommon(command).action(withExitCode(cli, showFiles));
}

async function showFiles(
  threadId: string,
  path: string,
  { project, json }: CommonOptions,
): Promise<undefined> {
  await withStore(project, async (store) => {
    await findThread(store, threadId);
    const file = await store.files.stat(threadId, path);
    if (!file) throw new RuntimeError('FileNotFound', `Thread "${threadId}" has no ${JSON.stringify(path)}.`);
    if (file.isDirectory) await listDirectory(store, threadId, file, json);
    else if (json) printJson({ file });
    else await printFile(store, threadId, file);
  });
  return undefined;
}

async function listDirectory(
  store: ThreadStore,
  threadId: string,
  { path }: FileRecord,
  json: boolean | undefined,
): Promise<void> {
  const { entries } = await store.files.readdir(threadId, path);
  if (json) return printJson({ entries });
  if (entries.length === 0) return note('The directory is empty.');
  const rows = entries.map((entry) => [
    entry.isDirectory ? '' : String(entry.size),
    entry.isDirectory ? 'directory' : shorten(entry.mimeType, 40),
    dateAndTime(entry.updatedAt * 1000),
    shorten(entry.name, 200) + (entry.isDirectory ? '/' : ''),
  ]);
  printTable(['BYTES', 'TYPE', 'UPDATED', 'NAME'], rows);
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

interface ValueOptions extends CommonOptions {
  readonly after?: string;
  readonly limit: number;
}

export function addThreadValues(threads: Command, cli: Cli): void {
  const command = threads
    .command('values')
    .summary('list the values of a thread, or print one')
    .description(
      'Lists keys and values of the thread (state.setValue), or prints one value as JSON. With --json: { values }.',
    )
    .argument(...THREAD_ARGUMENT)
    .argument('[key]', 'print only this value; null if there is none')
    .option('--after <key>', 'only keys after this one')
    .option('--limit <n>', 'at most n values', parseCount, 100);
  addCommon(command).action(withExitCode(cli, showValues));
}

async function showValues(
  threadId: string,
  key: string | undefined,
  { project, json, after, limit }: ValueOptions,
): Promise<undefined> {
  await withStore(project, async (store) => {
    await findThread(store, threadId);
    if (key !== undefined) return printData(await store.values.get(threadId, key));
    const values = await store.values.list(threadId, { after, limit });
    if (json) return printJson({ values });
    if (values.length === 0) return note('No values.');
    const rows = values.map((row) => [
      shorten(row.key, 60),
      dateAndTime(row.updatedAt),
      shorten(JSON.stringify(row.value), 200),
    ]);
    printTable(['KEY', 'UPDATED', 'VALUE'], rows);
    if (values.length === limit) dimNote(`At most ${limit} are shown: --limit and --after show more.`);
  });
  return undefined;
}

function printTable(heading: readonly string[], rows: readonly (readonly string[])[]): void {
  const [first, ...lines] = toTable([heading, ...rows]).split('\n');
  printLine(tone('dim', first ?? ''));
  for (const line of lines) printLine(line);
}
