/** definitions §18: searches in the files of a thread; where files are stored, for which threads, and their limits. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { createThreadFiles } from '../../src/author/state/thread-state.ts';
import type { ThreadFiles } from '../../src/core/file/thread-file.ts';
import { LIMITS } from '../../src/core/value/limit.ts';
import { openStore } from '../../src/store/open-store.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { openFilledThread } from '../contract/filled-thread.ts';
import { openThread } from '../contract/thread-driver.ts';
import { closeAfterTest, testRuntime, testStore } from '../support/runtime.ts';
import { toolOf } from '../support/tool-work.ts';

const text = (buffer: ArrayBuffer | null) => (buffer ? new TextDecoder().decode(buffer) : null);

/** The files of a thread, through the interface that its tools have, and those of another thread. */
let files: ThreadFiles;
let others: ThreadFiles;
beforeEach(async () => {
  const store = await testStore();
  files = createThreadFiles(store, (await openThread(store)).id);
  others = createThreadFiles(store, (await openThread(store)).id);
});

describe('definitions §18 searches', () => {
  it.each([
    ['*.md', ['/a/b/note.md', '/note.md']],
    ['note.md', ['/a/b/note.md', '/note.md']],
    ['/note.md', ['/note.md']],
    ['/a/**', ['/a/b/note.md', '/a/x.txt']],
    ['/a/*', ['/a/b/note.md', '/a/x.txt']],
    ['?.txt', ['/a/x.txt']],
    ['/?/?.txt', ['/a/x.txt']],
    ['nothing', []],
  ])('[definitions 18] findFiles %j', async (pattern, paths) => {
    for (const path of ['/note.md', '/a/x.txt', '/a/b/note.md', '/image.png'])
      await files.writeFile(path, 'x', 'text/plain');
    expect(await files.findFiles(pattern)).toEqual({ paths });
  });

  it('[definitions 18] findFiles and grepFiles return up to a hundred files, sorted', async () => {
    for (let n = 149; n >= 0; n--)
      await files.writeFile(`/f${String(n).padStart(3, '0')}`, `line ${n}`, 'text/plain');
    const first = Array.from({ length: 100 }, (_, n) => `/f${String(n).padStart(3, '0')}`);
    expect((await files.findFiles('*')).paths).toEqual(first);
    expect((await files.grepFiles('line')).map(({ path }) => path)).toEqual(first);
  });

  it.each<[string, string, [string, string[], number[]][]]>([
    ['an expression', '^\\d+ apples?$', [['/a.txt', ['1 apple', '22 apples'], [1, 3]]]],
    [
      'a plain word',
      'apple',
      [
        ['/a.txt', ['1 apple', '22 apples'], [1, 3]],
        ['/b.json', ['"apple"]'], [2]],
      ],
    ],
    ['a value that is not an expression', '(apple', [['/c.md', ['(apple', '[(apple*'], [2, 4]]]],
    ['what matches nothing', 'pear', []],
  ])(
    '[definitions 22.29] grepFiles with %s returns lines and line numbers of text files only',
    async (_, pattern, found) => {
      await files.writeFile('/a.txt', '1 apple\nnone\r\n22 apples\r\n', 'text/plain');
      await files.writeFile('/b.json', '["x",\n"apple"]', 'application/json');
      await files.writeFile('/c.md', 'x\n(apple\ny\n[(apple*', 'text/markdown');
      await files.writeFile('/d.png', '1 apple', 'image/png');
      const wanted = pattern === 'apple' ? [...found, ['/c.md', ['(apple', '[(apple*'], [2, 4]]] : found;
      expect(await files.grepFiles(pattern)).toEqual(
        wanted.map(([path, matches, lineNumbers]) => ({
          path,
          name: (path as string).slice(1),
          matches,
          lineNumbers,
        })),
      );
    },
  );
});

describe('definitions §18 storage', () => {
  it('[definitions 18] files are isolated by thread', async () => {
    await files.writeFile('/f', 'mine', 'text/plain', { thumbnail: new Uint8Array(1) });
    expect([
      await others.readFile('/f'),
      await others.statFile('/f'),
      await others.getFileThumbnail('/f'),
      await others.readdirFile('/'),
      await others.findFiles('*'),
      await others.grepFiles('mine'),
    ]).toEqual([null, null, null, { entries: [] }, { paths: [] }, []]);
    await others.writeFile('/f', 'theirs', 'text/plain');
    await others.unlinkFile('/f');
    expect(text(await files.readFile('/f'))).toBe('mine');
  });

  it('[definitions 18] contents survive executions, workers and a reopened store; a client reads them', async () => {
    const folder = join(process.env.EVERTHREAD_TEST_FOLDER as string, randomUUID());
    mkdirSync(folder, { recursive: true });
    const open = async () => {
      const store = await openStore('sqlite:store.db?synchronous=normal', folder);
      closeAfterTest(() => store.close());
      return store;
    };
    const tools = {
      write: toolOf(async (state) => {
        await state.mkdirFile('/reports');
        return (await state.writeFile('/reports/may.md', '# May\nall well', 'text/markdown')).size;
      }),
      read: toolOf(async (state) => [
        text(await state.readFile('/reports/may.md')),
        (await state.grepFiles('^all'))[0]?.matches,
        await state.getFileStats(),
      ]),
    };
    const before = await open();
    const first = await testRuntime({
      model: scriptedModel([calls('write'), says('ok')]),
      tools,
      store: before,
    });
    const thread = await first.start('go');
    await first.stopWorker();
    await before.close();
    const second = await testRuntime({
      model: scriptedModel([calls('read'), says('ok')]),
      tools,
      store: await open(),
      taskQueue: first.taskQueue,
    });
    await second.say(thread, 'go on');
    const results = (await second.transcript(thread)).filter((line) => line.startsWith('tool '));
    const stats = { fileCount: 1, directoryCount: 1, totalSize: 14 };
    expect(results).toEqual([
      'tool write success: 14',
      `tool read success: ${JSON.stringify(['# May\nall well', ['all well'], stats])}`,
    ]);
    const read = second.client.files(thread);
    expect(text(await read.read('/reports/may.md'))).toBe('# May\nall well');
    expect((await read.readdir('/')).entries.map(({ name }) => name)).toEqual(['reports']);
  });

  it('[definitions 18] a full file system names the limit that was reached', async () => {
    const { store, id, copyRow, change } = await openFilledThread();
    const full = createThreadFiles(store, id);
    const content = new Uint8Array(LIMITS.fileBytes).fill(7);
    const write = (name: string) => full.writeFile(`/${name}`, content, 'application/octet-stream');
    // Ten files of the largest size fit into the thread's limit, eleven do not; equal contents are stored once.
    await write('large0');
    const copies = Array.from({ length: 8 }, (_, n) => `/large${n + 1}`);
    copyRow('thread_files', 'path', '/large0', copies);
    change('update blobs set names = names + ?', copies.length);
    await write('large9');
    await expect(write('large10')).rejects.toMatchObject({
      code: 'LimitExceeded',
      message: expect.stringContaining(`${LIMITS.threadFileBytes} bytes in all`),
    });
    await write('large0');
    expect(await full.getFileStats()).toMatchObject({ fileCount: 10, totalSize: 10 * LIMITS.fileBytes });
  });

  it('[definitions 18] the number of files is limited', async () => {
    const { store, id, copyRow } = await openFilledThread();
    const full = createThreadFiles(store, id);
    const names = Array.from({ length: LIMITS.filesPerThread - 1 }, (_, n) => `/d/${n}`);
    await full.writeFile('/d/0', '', 'text/plain');
    copyRow('thread_files', 'path', '/d/0', names.slice(1, -20));
    await Promise.all(names.slice(-20).map((path) => full.writeFile(path, '', 'text/plain')));
    const refusal = {
      code: 'LimitExceeded',
      message: expect.stringContaining(`more than ${LIMITS.filesPerThread} files and directories`),
    };
    await expect(full.writeFile('/one', '', 'text/plain')).rejects.toMatchObject(refusal);
    await expect(full.mkdirFile('/two')).rejects.toMatchObject(refusal);
    await full.writeFile('/d/7', 'changed', 'text/plain');
    await full.unlinkFile('/d/8');
    await full.writeFile('/one', '', 'text/plain');
    expect(await full.getFileStats()).toMatchObject({ fileCount: 9999, directoryCount: 1 });
  });

  it('[definitions 18] the limits are documented', () => {
    const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'operations.md'), 'utf8');
    for (const words of ['100 MiB', '1 GiB', '10,000 files and directories', '256 KiB', '1,024 bytes'])
      expect(page).toContain(words);
  });
});
