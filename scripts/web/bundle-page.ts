/**
 * Bundles the page once for each version of `ai`: `page-5.js`, `page-6.js`, `page-7.js`. It is also a program:
 * `node scripts/web/bundle-page.ts FOLDER`.
 */
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

export const UI_VERSIONS = ['5', '6', '7'] as const;
export type UiVersion = (typeof UI_VERSIONS)[number];

const PAGE = fileURLToPath(new URL('./page.mjs', import.meta.url));
const require = createRequire(import.meta.url);

export async function bundlePage(
  folder: string,
  versions: readonly UiVersion[] = UI_VERSIONS,
): Promise<void> {
  for (const version of versions) {
    const bundle = await rolldown({
      input: PAGE,
      platform: 'browser',
      resolve: { alias: packagesOf(version) },
      transform: { define: { 'process.env.NODE_ENV': '"production"' } },
      // The page imports what version 5 lacks, and packages have directives such as `use client`.
      checks: { importIsUndefined: false, moduleLevelDirective: false },
    });
    await bundle.write({ file: join(folder, `page-${version}.js`), format: 'iife' });
    await bundle.close();
  }
}

/** Resolves the hooks of a version together with the `ai` that they were made for. */
function packagesOf(version: UiVersion): Record<string, string> {
  const hooks = require.resolve(`ai-sdk-react-${version}/package.json`);
  return { '@ai-sdk/react': dirname(hooks), ai: dirname(createRequire(hooks).resolve('ai/package.json')) };
}

if (import.meta.main) await bundlePage(resolve(process.argv[2] ?? '.everthread/page'));
