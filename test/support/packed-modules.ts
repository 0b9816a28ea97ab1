/**
 * Bundles packages of hundreds of small modules into one file each; `plain-imports.mjs` makes processes that tests
 * start load those files instead. They are made once per lockfile and cached in the clone.
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

/** Packages that become one file each, with their module format. */
const PACKED = {
  kysely: 'module',
  zod: 'module',
  memfs: 'commonjs',
  unionfs: 'commonjs',
  '@grpc/grpc-js': 'commonjs',
  'nexus-rpc': 'commonjs',
  uuid: 'commonjs',
} as const;
/** Names that share one file, because their modules share classes. */
const TOGETHER = [
  ['rxjs', 'rxjs/operators'],
  ['protobufjs/light', 'protobufjs/ext/protojson'],
] as const;

const fileNameOf = (name: string) => name.replaceAll('/', '-');

/** Returns the folder. It holds `<name>.mjs` or `<name>.cjs` for each name, with slashes replaced by dashes. */
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
    // Another process has made the folder in the meantime.
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
  // No tree shaking: a package must keep all its exports.
  const bundle = await rolldown({ input, platform: 'node', treeshake: false, logLevel: 'warn' });
  // Strict mode, as each of these modules declares.
  await bundle.write({ file, format, strict: true });
  await bundle.close();
}
