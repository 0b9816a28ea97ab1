/**
 * Packages of hundreds of small modules, each as one file: `plain-imports.mjs` lets processes that tests start load those instead.
 * They are made once for a lockfile, and kept in the clone's cache.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import webpack from 'webpack';

const MODULES = join(import.meta.dirname, '..', '..', 'node_modules');

/** One file each. */
const PACKED = {
  kysely: 'module',
  memfs: 'commonjs2',
  unionfs: 'commonjs2',
  '@grpc/grpc-js': 'commonjs2',
  'nexus-rpc': 'commonjs2',
  uuid: 'commonjs2',
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
  const each = names.map((name) => `${JSON.stringify(name)}: require('${name}')`);
  writeFileSync(entry, `module.exports = { ${each.join(', ')} };\n`);
  await pack(entry, folder, all, 'commonjs2');
  for (const name of names) {
    const text = `module.exports = require('./${all}.cjs')[${JSON.stringify(name)}];\n`;
    writeFileSync(join(folder, `${fileNameOf(name)}.cjs`), text);
  }
}

function pack(entry: string, folder: string, name: string, type: 'module' | 'commonjs2'): Promise<void> {
  const isModule = type === 'module';
  const config: webpack.Configuration = {
    mode: 'production',
    target: 'node20',
    devtool: false,
    context: MODULES,
    entry,
    // Readable, and nothing left out: what a package exports stays what it exports.
    optimization: { minimize: false, usedExports: false, sideEffects: false },
    experiments: { outputModule: isModule },
    output: {
      path: folder,
      filename: `${name}.${isModule ? 'mjs' : 'cjs'}`,
      library: { type },
    },
  };
  return new Promise((resolve, reject) => {
    webpack(config, (error, stats) => {
      if (error) reject(error);
      else if (stats?.hasErrors()) reject(new Error(stats.toString('errors-only')));
      else resolve();
    });
  });
}
