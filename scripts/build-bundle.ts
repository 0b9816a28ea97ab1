/**
 * Writes what is made once, and not at every start: dist/thread.bundle.js, the workflow code as workers load it, and the script
 * that every isolate of the sandbox begins with.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundleWorkflows } from '../src/workflow-bundle.ts';

const target = fileURLToPath(new URL('../dist/thread.bundle.js', import.meta.url));
const { code } = await bundleWorkflows();
writeFileSync(target, code);
// As built: it lies beside the code that reads it.
const built = new URL('../dist/sandbox/child/boot-source.js', import.meta.url).href;
const { BUILT_SCRIPT, makeBootScript } = await import(built);
writeFileSync(BUILT_SCRIPT, makeBootScript());
console.log(`dist/thread.bundle.js: ${(code.length / 1024).toFixed(0)} KiB`);
