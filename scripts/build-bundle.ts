/**
 * Writes what is prebuilt once instead of at every start: dist/thread.bundle.js, the workflow code as workers load it, and the
 * script with which every isolate of the sandbox begins.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { keptBundle } from '../src/workflow-bundle.ts';

const target = fileURLToPath(new URL('../dist/thread.bundle.js', import.meta.url));
const { code } = await keptBundle();
writeFileSync(target, code);
// At its place after the build, beside the code that reads it.
const built = new URL('../dist/sandbox/child/boot-source.js', import.meta.url).href;
const { BUILT_SCRIPT, makeBootScript } = await import(built);
writeFileSync(BUILT_SCRIPT, makeBootScript());
console.log(`dist/thread.bundle.js: ${(code.length / 1024).toFixed(0)} KiB`);
