/** Clients run on an older Node without SQLite and the newest language features; code that needs those reports so. */
import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';

const SOURCES = join(import.meta.dirname, '..', '..', 'src');
const ENTRIES = [
  'index',
  'client/index',
  'models/index',
  'testing/index',
  'definitions/index',
  'server/index',
];

/** Removes what Node 20 lacks of the language, as far as it can be removed. */
const PROGRAM = `
delete Promise.withResolvers;
delete Promise.try;
delete Map.groupBy;
delete Object.groupBy;
delete Array.fromAsync;
delete RegExp.escape;
for (const name of ['union', 'intersection', 'difference', 'isSubsetOf']) delete Set.prototype[name];
for (const name of ['map', 'filter', 'take', 'drop', 'flatMap', 'reduce', 'toArray', 'some', 'every', 'find'])
  delete Object.getPrototypeOf(Object.getPrototypeOf([].values()))[name];
const [index] = await Promise.all(process.argv.slice(1).map((entry) => import(entry)));
const { formatProblems, openStore } = index;
console.log(formatProblems([{ file: 'a.ts', message: 'lacks a name.' }, { file: 'a.ts', message: 'is long.' }]));
await openStore('sqlite:store.db', process.cwd()).catch(({ code, message }) => console.log(code + ': ' + message));
`;

it('a Node without SQLite loads the client entries, and reports what a file store needs', async () => {
  const entries = ENTRIES.map((entry) => join(SOURCES, `${entry}.ts`));
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...['--no-experimental-sqlite', '--input-type=module', '--eval', PROGRAM], ...entries],
    { cwd: mkdtempSync(join(process.env.EVERTHREAD_TEST_FOLDER as string, 'older-')) },
  );
  expect(stdout.split('\n')).toEqual([
    'a.ts',
    '  - lacks a name.',
    '  - is long.',
    expect.stringMatching(/^InvalidConfiguration: A store in a file needs Node 24, but this is Node /),
    '',
  ]);
});
