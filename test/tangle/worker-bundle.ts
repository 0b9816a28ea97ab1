/**
 * Bundles an entry point for a Worker's runtime, which has no modules of Node, and runs it in a context without Node's
 * globals.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import webpack from 'webpack';

const ROOT = join(import.meta.dirname, '..', '..');
const require = createRequire(import.meta.url);

/** The bundle's exports are in the global `models`. Throws if the bundler cannot resolve a module. */
export async function bundleForWorker(entry: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'everthread-worker-'));
  try {
    const compiler = webpack({
      mode: 'production',
      target: 'webworker',
      context: ROOT,
      entry: join(ROOT, entry),
      externalsPresets: { node: false },
      module: {
        rules: [
          {
            test: /\.ts$/,
            loader: require.resolve('swc-loader'),
            options: { jsc: { target: 'es2022', parser: { syntax: 'typescript' } } },
          },
        ],
      },
      output: { path: folder, filename: 'worker.js', library: { name: 'models', type: 'var' } },
      optimization: { minimize: false },
      performance: { hints: false },
    });
    const stats = await new Promise<webpack.Stats | undefined>((resolve, reject) =>
      compiler.run((error, done) => (error ? reject(error) : resolve(done))),
    );
    await new Promise((resolve) => compiler.close(resolve));
    if (stats?.hasErrors()) throw new Error(stats.toString({ all: false, errors: true }));
    return await readFile(join(folder, 'worker.js'), 'utf8');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs the bundle and then `source`; returns the awaited value that `source` assigns to the global `result`. */
export async function runInWorker(
  code: string,
  source: string,
  globals: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  const own = {
    fetch,
    Request,
    Response,
    Headers,
    URL,
    AbortSignal,
    AbortController,
    TextDecoder,
    TextEncoder,
  };
  const context = createContext({ ...own, ...globals, result: undefined });
  runInContext(`${code}\n${source}`, context, { timeout: 5000 });
  return structuredClone(await (context as { result?: unknown }).result);
}
