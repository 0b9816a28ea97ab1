/** A program that says how its modules came to it (`linked-program.test.ts`). */
import { z } from 'zod';
import { runningPackage } from '../../src/definitions/running-package.ts';
import * as door from '../../src/index.ts';
import * as worker from '../../src/worker/index.ts';
import { order } from './linked-order.ts';

order.push('the program begins');
const modules = (await runningPackage()) as Record<string, Record<string, unknown>>;
const { said } = await import('./linked-later.ts');
const { createWorker } = (await modules['everthread/worker']) as typeof worker;
const { default: zod } = await import('zod');
const told = {
  order,
  said,
  here: import.meta.url,
  linked: new Error('here').stack?.includes('/programs/linked-main-'),
  oneDoor: modules.everthread?.defineTool === door.defineTool,
  oneWorker: createWorker === worker.createWorker,
  oneZod: zod.string === z.string,
};
process.stdout.write(JSON.stringify(told));
