/** The worker processes of the demo: what `everthread worker` runs, as few lines as it takes. Settings come by environment. */
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { createWorker } from '../../src/worker/index.ts';

// The demo must not leave workers behind, in whatever way it ends.
process.on('disconnect', () => process.exit());
Runtime.install({ logger: new DefaultLogger('WARN') });

const worker = await createWorker({ projectDir: process.cwd(), onWarning: console.warn });
const running = worker.run();
process.send?.('ready');
await running;
process.disconnect?.();
