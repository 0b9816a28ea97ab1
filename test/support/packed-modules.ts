/**
 * Packages of hundreds of small modules, each as one file: `plain-imports.mjs` lets processes that tests start load those instead.
 * They are made once for a lockfile, and kept in the clone's cache.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import webpack from 'webpack';

const MODULES = join(import.meta.dirname, '..', '..', 'node_modules');

/** What is imported under each name; `rxjs/operators` shares the classes of `rxjs`. */
const PACKED = { kysely: 'module', rxjs: 'commonjs2', memfs: 'commonjs2', unionfs: 'commonjs2' } as const;
const RXJS = "module.exports = { rxjs: require('rxjs'), operators: require('rxjs/operators') };\n";

/** Answers the folder: `<name>.mjs` or `<name>.cjs`, and `rxjs-operators.cjs`. */
export async function packModules(): Promise<string> {
  const versions = readFileSync(join(MODULES, '.package-lock.json'));
  const own = readFileSync(import.meta.filename);
  const name = createHash('sha256').update(versions).update(own).digest('hex').slice(0, 16);
  const folder = join(MODULES, '.cache', 'everthread-packed', name);
  if (existsSync(folder)) return folder;
  const unfinished = `${folder}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  try {
    writeFileSync(join(unfinished, 'rxjs-entry.cjs'), RXJS);
    await Promise.all(Object.keys(PACKED).map((each) => pack(each as keyof typeof PACKED, unfinished)));
    writeFileSync(join(unfinished, 'rxjs.cjs'), "module.exports = require('./rxjs-all.cjs').rxjs;\n");
    const operators = "module.exports = require('./rxjs-all.cjs').operators;\n";
    writeFileSync(join(unfinished, 'rxjs-operators.cjs'), operators);
    renameSync(unfinished, folder);
  } catch (error) {
    // Another process has made it meanwhile.
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return folder;
}

function pack(name: keyof typeof PACKED, folder: string): Promise<void> {
  const type = PACKED[name];
  const isModule = type === 'module';
  const config: webpack.Configuration = {
    mode: 'production',
    target: 'node20',
    devtool: false,
    context: MODULES,
    entry: name === 'rxjs' ? join(folder, 'rxjs-entry.cjs') : name,
    // Readable, and nothing left out: what a package exports stays what it exports.
    optimization: { minimize: false, usedExports: false, sideEffects: false },
    experiments: { outputModule: isModule },
    output: {
      path: folder,
      filename: `${name === 'rxjs' ? 'rxjs-all' : name}.${isModule ? 'mjs' : 'cjs'}`,
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
