/**
 * `node scripts/run.mjs FILE [arguments]`: makes the clone ready, then runs FILE (TypeScript too) with Node 24.
 * For the npm scripts of the README: each works on a clean clone, with any Node that npm runs on.
 */
import { run, setUp } from './set-up.mjs';

try {
  const node = await setUp();
  process.exitCode = await run(node, process.argv.slice(2));
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
