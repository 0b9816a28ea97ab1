/**
 * Packages of hundreds of small modules, each as one file: `plain-imports.mjs` lets processes that tests start load those instead.
 * They are made once for a lockfile, and kept in the clone's cache.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { rolldown } from 'rolldown';

const MODULES = join(import.meta.dirname, '..', '..', 'node_modules');
const require = createRequire(import.meta.url);

/** How it is loaded: by `import`, or by `require`. */
type Format = 'esm' | 'cjs';

/** One file each. */
const PACKED = {
  kysely: 'esm',
  memfs: 'cjs',
  unionfs: 'cjs',
  '@grpc/grpc-js': 'cjs',
  'nexus-rpc': 'cjs',
  uuid: 'cjs',
} as const satisfies Readonly<Record<string, Format>>;
/** One file for several names, whose modules share classes. */
const TOGETHER = [
  ['rxjs', 'rxjs/operators'],
  ['protobufjs/light', 'protobufjs/ext/protojson'],
] as const;

const fileNameOf = (name: string) => name.replaceAll('/', '-');

/** Answers the folder: `<name>.mjs` or `<name>.cjs` of each name, slashes being dashes. */
export async function packModules(): Promise<string> {
  const versions = readFileSync(join(MODULES, '.package-lock.json'));
  const own = readFileSync(import.meta.filename);
  const name = createHash('sha256').update(versions).update(own).digest('hex').slice(0, 16);
  const folder = join(MODULES, '.cache', 'everthread-packed', name);
  if (existsSync(folder)) return folder;
  const unfinished = `${folder}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  try {
    await Promise.all([
      ...Object.entries(PACKED).map(([name, type]) => pack(name, unfinished, fileNameOf(name), type)),
      ...TOGETHER.map((names) => packTogether(names, unfinished)),
    ]);
    renameSync(unfinished, folder);
  } catch (error) {
    // Another process has made it meanwhile.
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return folder;
}

async function packTogether(names: readonly string[], folder: string): Promise<void> {
  const all = `all-${fileNameOf(names[0] as string)}`;
  const entry = join(folder, `${all}-entry.cjs`);
  const each = names.map(
    (name) => `${JSON.stringify(name)}: require(${JSON.stringify(require.resolve(name))})`,
  );
  writeFileSync(entry, `module.exports = { ${each.join(', ')} };\n`);
  await pack(entry, folder, all, 'cjs');
  for (const name of names) {
    const text = `module.exports = require('./${all}.cjs')[${JSON.stringify(name)}];\n`;
    writeFileSync(join(folder, `${fileNameOf(name)}.cjs`), text);
  }
}

async function pack(entry: string, folder: string, name: string, format: Format): Promise<void> {
  const bundle = await rolldown({
    input: format === 'esm' ? entry : require.resolve(entry),
    cwd: MODULES,
    platform: 'node',
    // Nothing left out: what a package exports stays what it exports.
    treeshake: false,
    logLevel: 'warn',
  });
  const file = join(folder, `${name}.${format === 'esm' ? 'mjs' : 'cjs'}`);
  // As each of these modules says of itself.
  await bundle.write({ file, format, strict: true });
  await bundle.close();
}
