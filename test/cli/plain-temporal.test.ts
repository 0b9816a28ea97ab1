/** A thread driven by nothing but the plain `temporal` CLI, and read with ours. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { openStore } from '../../src/store/open-store.ts';
import { says, scriptedModel } from '../../src/testing/index.ts';
import { closeAfterTest, eventually, testRuntime } from '../support/runtime.ts';

const run = promisify(execFile);

async function startWorker() {
  const folder = join(process.env.EVERTHREAD_TEST_FOLDER as string, randomUUID());
  mkdirSync(folder, { recursive: true });
  const store = await openStore('sqlite:store.db', folder);
  closeAfterTest(() => store.close());
  const model = scriptedModel((request) => says(`you said: ${request.messages.at(-1)?.content}`));
  const runtime = await testRuntime({ model, store });
  const threadId = `t-${randomUUID()}`;
  const temporal = async (...args: string[]) =>
    (
      await run(process.env.EVERTHREAD_TEST_TEMPORAL_CLI as string, [
        ...args,
        '--address',
        process.env.TEMPORAL_ADDRESS as string,
      ])
    ).stdout;
  const everthread = async (...args: string[]) => {
    const env = { ...process.env, EVERTHREAD_STORE: `sqlite:${join(folder, 'store.db')}` };
    return (await run(process.execPath, ['bin/everthread.js', ...args], { env })).stdout;
  };
  return { runtime, threadId, workflowId: `thread/${threadId}`, temporal, everthread };
}

describe('the plain temporal CLI', () => {
  it('starts a thread, signals a message, and the answer is in `everthread threads show`', async () => {
    const { runtime, threadId, workflowId, temporal, everthread } = await startWorker();
    await temporal(
      'workflow',
      'start',
      '--type',
      'thread',
      '--task-queue',
      runtime.taskQueue,
      '--workflow-id',
      workflowId,
      '--input',
      '{"agent":"helper"}',
    );
    await temporal(
      'workflow',
      'signal',
      '--workflow-id',
      workflowId,
      '--name',
      'queueMessage',
      '--input',
      '{"content":"hello"}',
    );
    await eventually(
      'the answer is stored',
      async () => (await runtime.store.getThread(threadId))?.stopReason === 'stop_on_response',
    );
    expect(await everthread('threads', 'show', threadId)).toContain('you said: hello');
    const shown = JSON.parse(await everthread('threads', 'show', threadId, '--json'));
    expect(shown.thread).toMatchObject({ id: threadId, agent: 'helper', status: 'idle' });
    expect(
      shown.messages.map(({ role, content }: { role: string; content: string }) => [role, content]),
    ).toEqual([
      ['user', 'hello'],
      ['assistant', 'you said: hello'],
    ]);
  });

  it('sendMessage answers the id, and refuses with a code', async () => {
    const { runtime, threadId, workflowId, temporal } = await startWorker();
    await temporal(
      'workflow',
      'start',
      '--type',
      'thread',
      '--task-queue',
      runtime.taskQueue,
      '--workflow-id',
      workflowId,
      '--input',
      '{"agent":"helper"}',
    );
    const update = (input: string) =>
      temporal(
        'workflow',
        'update',
        'execute',
        '--workflow-id',
        workflowId,
        '--name',
        'sendMessage',
        '--input',
        input,
      );
    expect(await update('{"content":"hi","id":"m1"}')).toContain('map[id:m1]');
    await expect(update('{"content":""}')).rejects.toMatchObject({
      stderr: expect.stringContaining('non-empty'),
    });
    await runtime.client.terminate(threadId);
    await runtime.client.waitForIdle(threadId);
    await expect(update('{"content":"hi"}')).rejects.toBeDefined();
  });

  it('asks the status, stops and terminates', async () => {
    const { runtime, threadId, workflowId, temporal } = await startWorker();
    await temporal(
      'workflow',
      'start',
      '--type',
      'thread',
      '--task-queue',
      runtime.taskQueue,
      '--workflow-id',
      workflowId,
      '--input',
      '{"agent":"helper"}',
    );
    expect(await temporal('workflow', 'query', '--workflow-id', workflowId, '--type', 'status')).toContain(
      'waiting for a message',
    );
    await temporal(
      'workflow',
      'signal',
      '--workflow-id',
      workflowId,
      '--name',
      'stop',
      '--input',
      '{"reason":"a break"}',
    );
    await eventually(
      'it is stopped',
      async () => (await runtime.store.getThread(threadId))?.status === 'stopped',
    );
    await temporal('workflow', 'signal', '--workflow-id', workflowId, '--name', 'terminate');
    await eventually(
      'it is terminated',
      async () => (await runtime.store.getThread(threadId))?.status === 'terminated',
    );
  });
});
