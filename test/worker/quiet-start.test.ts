/** The output of a worker when nothing is wrong. */
import { expect, it } from '@jest/globals';
import { says, scriptedModel } from '../../src/testing/index.ts';
import { logged, testRuntime } from '../support/runtime.ts';

it('a worker that starts, works and ends logs no warning', async () => {
  const runtime = await testRuntime({ model: scriptedModel([says('done')]) });
  await runtime.start('hello');
  await runtime.stopWorker();
  expect(logged).toEqual([]);
});
