/** A worker meets threads whose histories were written by a version that decided differently. */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { bundleWorkflowCode } from '@temporalio/worker';
import { says, scriptedModel } from '../../src/testing/index.ts';
import { logged, testRuntime, testStore } from '../support/runtime.ts';

async function bundleOtherVersion(): Promise<string> {
  const pathOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));
  const { code } = await bundleWorkflowCode({
    workflowsPath: pathOf('../support/delayed-thread.ts'),
    workflowInterceptorModules: [pathOf('../../src/workflows/interceptors.ts')],
    payloadConverterPath: pathOf('../../src/workflows/payload-converter.ts'),
    logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} },
  });
  const path = join(process.env.EVERTHREAD_TEST_FOLDER as string, `other-version-${randomUUID()}.js`);
  writeFileSync(path, code);
  return path;
}

it('A thread whose history cannot be replayed begins a new run from the store, and answers each message once', async () => {
  const shared = { store: await testStore(), taskQueue: `diverged-${randomUUID()}` };
  const model = scriptedModel((_request, index) => says(`answer ${index + 1}`));
  const other = await testRuntime({ model, ...shared, workflowBundle: await bundleOtherVersion() });
  const thread = await other.start('one');
  await other.say(thread, 'two');
  await other.stopWorker();
  const runtime = await testRuntime({ model, ...shared });
  await runtime.say(thread, 'three');
  await runtime.say(thread, 'four');
  expect(await runtime.transcript(thread)).toEqual([
    'user: one',
    'assistant: answer 1',
    'user: two',
    'assistant: answer 2',
    'user: three',
    'assistant: answer 3',
    'user: four',
    'assistant: answer 4',
  ]);
  const warnings = logged.filter(({ message }) =>
    message.startsWith('The history of a thread cannot be replayed'),
  );
  expect(warnings).toMatchObject([
    {
      level: 'WARN',
      fields: { workflowId: `thread/${thread}`, detail: expect.stringContaining('TMPRL1100') },
    },
  ]);
  expect(model.requests).toHaveLength(4);
});
