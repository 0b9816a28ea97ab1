/** Writes dist/thread.bundle.js: the workflow code as workers load it. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundleWorkflows } from '../src/workflow-bundle.ts';

const target = fileURLToPath(new URL('../dist/thread.bundle.js', import.meta.url));
const { code } = await bundleWorkflows();
writeFileSync(target, code);
console.log(`dist/thread.bundle.js: ${(code.length / 1024).toFixed(0)} KiB`);
