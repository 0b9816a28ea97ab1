/** The worker processes of the demo: what `everthread worker` runs, in a few lines. Settings come from the environment. */
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { createWorker } from '../../src/worker/index.ts';

// The demo must not leave workers behind, however it ends.
process.on('disconnect', () => process.exit());
Runtime.install({ logger: new DefaultLogger('WARN') });

const worker = await createWorker({ projectDir: process.cwd(), onWarning: console.warn });
const running = worker.run();
process.send?.('ready');
await running;
process.disconnect?.();
