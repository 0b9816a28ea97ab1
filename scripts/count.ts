/**
 * Counts the sources (test/architecture/size.ts) and prints the figures beside those that are checked in. `--json` prints
 * JSON, `--list` the names behind the figures, `--write` accepts the figures of today. `--full` also builds the workflow
 * bundle and counts its bytes, and counts the statements and round trips of each command of a step (bench/store.ts).
 */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  listCircles,
  listForwarders,
  listNamesTwice,
  measureSize,
  readSize,
  type Size,
} from '../test/architecture/size.ts';
import { ROOT, readSources } from '../test/architecture/source-tree.ts';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean' },
    list: { type: 'boolean' },
    write: { type: 'boolean' },
    full: { type: 'boolean' },
  },
});
const sources = readSources();
const size = measureSize(sources);
if (values.write)
  writeFileSync(join(ROOT, 'test', 'architecture', 'size.json'), `${JSON.stringify(size, null, 2)}\n`);
if (values.json) console.log(JSON.stringify(size, null, 2));
else printTable(size, readSize());
if (values.list) {
  console.log(`\nforwarders:\n  ${listForwarders(sources).join('\n  ')}`);
  console.log(
    `circles:\n  ${listCircles(sources)
      .map((circle) => circle.join(' '))
      .join('\n  ')}`,
  );
  console.log(`names that stand twice:\n  ${listNamesTwice(sources).join(' ')}`);
}

if (values.full) {
  const { cachedBundle } = await import('../src/workflow-bundle.ts');
  const { code } = await cachedBundle();
  console.log(`\nbytes of the workflow bundle: ${Buffer.byteLength(code)}`);
  const bench = join(ROOT, 'bench', 'store.ts');
  spawnSync(process.execPath, [bench, '--quick', '--only', '10'], { cwd: ROOT, stdio: 'inherit' });
}

function printTable({ tokens, files, ...rest }: Size, before: Size): void {
  const sum = (each: Readonly<Record<string, number>>) =>
    Object.values(each).reduce((all, one) => all + one, 0);
  const row = (name: string, cells: readonly number[]) =>
    console.log(name.padEnd(22) + cells.map((cell) => String(cell).padStart(10)).join(''));
  console.log(
    `${'folder'.padEnd(22)}${'tokens'.padStart(10)}${'was'.padStart(10)}${'files'.padStart(10)}${'was'.padStart(10)}`,
  );
  for (const name of Object.keys(tokens).toSorted((a, b) => (tokens[b] ?? 0) - (tokens[a] ?? 0)))
    row(name, [tokens[name] ?? 0, before.tokens[name] ?? 0, files[name] ?? 0, before.files[name] ?? 0]);
  row('src', [sum(tokens), sum(before.tokens), sum(files), sum(before.files)]);
  console.log('');
  for (const [name, value] of Object.entries(rest)) row(name, [value as number, (before as never)[name]]);
}
