/**
 * Writes dist/cli/reader/: the commands that need only the store, with the store and its query builder, in few files.
 * - The bundle has no second copy of what a project or Temporal's SDK could load: any other import fails the build.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const DIST = fileURLToPath(new URL('../dist/', import.meta.url));
const COMMANDS = join(DIST, 'cli/commands');
const TABLE = join(DIST, 'cli', 'command-table.js');
const BUNDLED = ['commander', 'kysely'];
/** Packages that stay outside the bundle, loaded when they are used. */
const OUTSIDE = ['pg'];

const outside = new Set<string>();

const bundle = await rolldown({
  input: { main: join(DIST, 'cli/main.js') },
  platform: 'node',
  external(id, importer, isResolved) {
    // Excludes all commands of the table except the reading ones: this bundle never loads them (start.ts, S5).
    if (isResolved) return importer === TABLE && dirname(id) === COMMANDS && basename(id) !== 'reading.js';
    if (id.startsWith('.') || id.startsWith('/') || id.startsWith('node:')) return undefined;
    const name = id
      .split('/')
      .slice(0, id.startsWith('@') ? 2 : 1)
      .join('/');
    if (BUNDLED.includes(name)) return false;
    outside.add(name);
    return true;
  },
});
const { output } = await bundle.write({
  dir: join(DIST, 'cli/reader'),
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: '[name]-[hash].js',
  comments: { legal: true, annotation: false, jsdoc: false },
});
await bundle.close();
const foreign = [...outside].filter((name) => !OUTSIDE.includes(name));
if (foreign.length > 0)
  throw new Error(
    `A command that reads (src/cli/command-table.ts) leads to ${foreign.join(', ')}: import that where it is used, or take "reads" from the command.`,
  );
writeFileSync(join(DIST, 'cli/reader/LICENSES.txt'), BUNDLED.map(licenceOf).join('\n\n'));
const size = output.reduce((sum, chunk) => sum + (chunk.type === 'chunk' ? chunk.code.length : 0), 0);
console.log(`dist/cli/reader: ${(size / 1024).toFixed(0)} KiB in ${output.length} files`);

function licenceOf(name: string): string {
  const text = readFileSync(new URL(`../node_modules/${name}/LICENSE`, import.meta.url), 'utf8');
  return `${name}\n\n${text}`;
}
