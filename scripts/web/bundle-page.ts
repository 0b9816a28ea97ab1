/** Bundles the page once for each version of `ai`: `page-5.js`, `page-6.js`, `page-7.js`. `node scripts/web/bundle-page.ts FOLDER` does it too. */
import { createRequire } from 'node:module';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import webpack from 'webpack';

export const UI_VERSIONS = ['5', '6', '7'] as const;
export type UiVersion = (typeof UI_VERSIONS)[number];

const PAGE = fileURLToPath(new URL('./page.mjs', import.meta.url));
const require = createRequire(import.meta.url);

export async function bundlePage(
  folder: string,
  versions: readonly UiVersion[] = UI_VERSIONS,
): Promise<void> {
  const compiler = webpack({
    mode: 'production',
    target: 'web',
    entry: Object.fromEntries(versions.map((version) => [`page-${version}`, `${PAGE}?ui=${version}`])),
    module: {
      // The page asks for what 5 does not have yet.
      parser: { javascript: { exportsPresence: 'warn' } },
      rules: versions.map((version) => ({
        resourceQuery: new RegExp(`ui=${version}`),
        resolve: { alias: packagesOf(version) },
      })),
    },
    output: { path: folder, filename: '[name].js' },
    optimization: { minimize: false },
    performance: { hints: false },
  });
  const stats = await new Promise<webpack.Stats | undefined>((resolve, reject) =>
    compiler.run((error, done) => (error ? reject(error) : resolve(done))),
  );
  await new Promise((resolve) => compiler.close(resolve));
  if (stats?.hasErrors()) throw new Error(stats.toString({ all: false, errors: true }));
}

/** The hooks of a version come with the `ai` that they were made for. */
function packagesOf(version: UiVersion): Record<string, string> {
  const hooks = require.resolve(`ai-sdk-react-${version}/package.json`);
  return { '@ai-sdk/react': dirname(hooks), ai: dirname(createRequire(hooks).resolve('ai/package.json')) };
}

if (import.meta.main) await bundlePage(resolve(process.argv[2] ?? '.everthread/page'));
