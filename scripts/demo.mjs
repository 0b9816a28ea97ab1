/** `npm run demo`: makes the clone ready and runs `scripts/demo/main.ts` with Node 24. `npm run demo -- --help` lists options. */
process.argv.splice(2, 0, 'scripts/demo/main.ts');
await import('./run.mjs');
