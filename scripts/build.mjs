/**
 * `npm run build`, also run by `npm pack`: writes JavaScript and types into dist/, and the bundles and the page beside them, so that
 * an installed worker needs no bundler at start and commands that need only the store start fast. With
 * EVERTHREAD_BUILD_UNCHECKED=1, as tests run it, types are not checked and the compiler has one thread: the output is
 * the same, for a fifth of the CPU time.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, run, setUp, TSC_ALONE } from './set-up.mjs';

try {
  const node = await setUp();
  rmSync(join(ROOT, 'dist'), { recursive: true, force: true });
  const checked = process.env.EVERTHREAD_BUILD_UNCHECKED === '1' ? ['--noCheck', ...TSC_ALONE] : [];
  await must(node, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', ...checked]);
  await must(node, ['scripts/build-bundle.ts']);
  await must(node, ['scripts/build-reader.ts']);
  await must(node, ['scripts/build-page.ts']);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}

async function must(node, args) {
  const code = await run(node, args);
  if (code !== 0) throw new Error(`The build failed at: ${args.join(' ')}`);
}
