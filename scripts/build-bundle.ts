/**
 * Writes what is prebuilt once instead of at every start: dist/thread.bundle.js, the workflow code as workers load it, and the
 * program of sandbox children.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundleProbe } from '../src/cli/doctor/probe-bundle.ts';
import { cachedBundle } from '../src/workflow-bundle.ts';

const target = fileURLToPath(new URL('../dist/thread.bundle.js', import.meta.url));
const { code } = await cachedBundle();
writeFileSync(target, code);
writeFileSync(new URL('../dist/cli/doctor/probe.bundle.js', import.meta.url), await bundleProbe());
// The built code links the program from its own files.
const built = new URL('../dist/sandbox/host/program.js', import.meta.url).href;
const { BUILT_PROGRAM, linkProgram } = await import(built);
writeFileSync(BUILT_PROGRAM, await linkProgram());
console.log(`dist/thread.bundle.js: ${(code.length / 1024).toFixed(0)} KiB`);
