/**
 * `npm run build`, also run by `npm pack`: JavaScript and types into dist/, and the bundles beside
 * them, so that an installed worker needs no bundler at start, and a command that reads is quick. With EVERTHREAD_BUILD_UNCHECKED=1 types are not checked, and the compiler
 * has one thread, as tests run it: what is built is the same, with a fifth of the computing.
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
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}

async function must(node, args) {
  const code = await run(node, args);
  if (code !== 0) throw new Error(`The build failed at: ${args.join(' ')}`);
}
