/**
 * Packages of hundreds of small modules, each as one file: `plain-imports.mjs` lets processes that tests start load those instead.
 * They are made once for a lockfile, and kept in the clone's cache.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { packSdk } from './packed-sdk.ts';

const require = createRequire(import.meta.url);
const MODULES = join(import.meta.dirname, '..', '..', 'node_modules');

/** One file each. */
const PACKED = {
  kysely: 'module',
  zod: 'module',
  memfs: 'commonjs',
  unionfs: 'commonjs',
  '@grpc/grpc-js': 'commonjs',
  'nexus-rpc': 'commonjs',
  uuid: 'commonjs',
} as const;
/** One file for several names, whose modules share classes. */
const TOGETHER = [
  ['rxjs', 'rxjs/operators'],
  ['protobufjs/light', 'protobufjs/ext/protojson'],
] as const;

const fileNameOf = (name: string) => name.replaceAll('/', '-');

/** Answers the folder: `<name>.mjs` or `<name>.cjs` of each name, slashes being dashes. */
export async function packModules(): Promise<string> {
  const versions = readFileSync(join(MODULES, '.package-lock.json'));
  const own = [import.meta.filename, join(import.meta.dirname, 'packed-sdk.ts')].map((file) =>
    readFileSync(file),
  );
  const hash = createHash('sha256').update(versions);
  for (const text of own) hash.update(text);
  const name = hash.digest('hex').slice(0, 16);
  const folder = join(MODULES, '.cache', 'everthread-packed', name);
  if (existsSync(folder)) return folder;
  const unfinished = `${folder}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  try {
    await Promise.all([
      ...Object.entries(PACKED).map(([name, type]) => pack(name, unfinished, type)),
      ...TOGETHER.map((names) => packTogether(names, unfinished)),
      packSdk(unfinished),
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
  await write(entry, join(folder, `${all}.cjs`), 'cjs');
  for (const name of names) {
    const text = `module.exports = require('./${all}.cjs')[${JSON.stringify(name)}];\n`;
    writeFileSync(join(folder, `${fileNameOf(name)}.cjs`), text);
  }
}

async function pack(name: string, folder: string, type: 'module' | 'commonjs'): Promise<void> {
  if (type === 'commonjs')
    return write(require.resolve(name), join(folder, `${fileNameOf(name)}.cjs`), 'cjs');
  return write(fileURLToPath(import.meta.resolve(name)), join(folder, `${fileNameOf(name)}.mjs`), 'esm');
}

async function write(input: string, file: string, format: 'cjs' | 'esm'): Promise<void> {
  // Nothing left out: what a package exports stays what it exports.
  const bundle = await rolldown({ input, platform: 'node', treeshake: false, logLevel: 'warn' });
  // As each of these modules says of itself.
  await bundle.write({ file, format, strict: true });
  await bundle.close();
}
