/** Worker Versioning: threads keep to the version that they began on, and continue as new on the current one. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { says, scriptedModel } from '../../src/testing/index.ts';
import { findIdleVersion } from '../../src/worker/deployment.ts';
import { eventually, testRuntime, testStore } from '../support/runtime.ts';

describe('two workers of one deployment', () => {
  it('serve a thread in turn: it continues as new once another version is current', async () => {
    const deploymentName = `deployment-${randomUUID()}`;
    const shared = { store: await testStore(), taskQueue: `test-${randomUUID()}` };
    const workerOf = (buildId: string) =>
      testRuntime({
        ...shared,
        model: scriptedModel(() => says(`from ${buildId}`)),
        configuration: { deployment: { deploymentName, buildId } },
      });
    const { client, say } = await workerOf('one');
    const { namespace } = client.temporal.options;
    /** The server knows a version once a worker of it has polled. */
    const makeCurrent = (buildId: string) =>
      eventually(`${buildId} is current`, async () => {
        const version = {
          namespace,
          deploymentName,
          buildId,
          identity: 'test',
          conflictToken: new Uint8Array(),
        };
        return client.temporal.workflowService.setWorkerDeploymentCurrentVersion(version).then(
          () => true,
          () => false,
        );
      });
    const warningOf = (buildId: string) =>
      findIdleVersion(client.temporal.connection, namespace, { deploymentName, buildId });
    await makeCurrent('one');
    const { threadId } = await client.startThread({ agent: 'helper', messages: [{ content: 'first' }] });
    await client.waitForIdle(threadId);
    const answers = async () =>
      (await client.getMessages(threadId)).messages.filter(({ role }) => role === 'assistant');
    expect(await answers()).toMatchObject([{ content: 'from one' }]);
    await workerOf('two');
    expect(await warningOf('one')).toBeUndefined();
    expect(await warningOf('two')).toContain('set-current-version --deployment-name');
    await say(threadId, 'second');
    await makeCurrent('two');
    // It is at rest. The server tells its task queue of the new version a little later.
    const thread = client.temporal.workflow.getHandle(`thread/${threadId}`);
    const { runId } = await thread.describe();
    await eventually('the thread continues as new', async () => {
      await client.wake(threadId);
      return (await thread.describe()).runId !== runId;
    });
    await say(threadId, 'third');
    expect((await answers()).map(({ content }) => content)).toEqual(['from one', 'from one', 'from two']);
  });
});
