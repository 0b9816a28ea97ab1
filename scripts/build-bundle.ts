/**
 * Writes what is prebuilt once instead of at every start: dist/thread.bundle.js, the workflow code as workers load it, the
 * program of sandbox children, and those of workers.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { keptBundle } from '../src/workflow-bundle.ts';

const target = fileURLToPath(new URL('../dist/thread.bundle.js', import.meta.url));
const { code } = await keptBundle();
writeFileSync(target, code);
// By the built code, of itself.
const built = new URL('../dist/sandbox/host/program.js', import.meta.url).href;
const { BUILT_PROGRAM, linkProgram } = await import(built);
writeFileSync(BUILT_PROGRAM, await linkProgram());
const linked = await import(new URL('../dist/linked-program.js', import.meta.url).href);
for (const program of ['cli/worker/worker-program.js', 'worker/lone-program.js']) {
  const main = fileURLToPath(new URL(`../dist/${program}`, import.meta.url));
  const path = linked.builtProgram(main);
  writeFileSync(path, await linked.linkProgram(main, path));
}
console.log(`dist/thread.bundle.js: ${(code.length / 1024).toFixed(0)} KiB`);
