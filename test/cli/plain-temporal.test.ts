/** A thread that is driven only by the plain `temporal` CLI, and read with our command. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { openStore } from '../../src/store/open-store.ts';
import { says, scriptedModel } from '../../src/testing/index.ts';
import { PROGRAM_OPTIONS } from '../support/program-options.ts';
import { closeAfterTest, eventually, testRuntime } from '../support/runtime.ts';

const run = promisify(execFile);
const COMMAND = join(import.meta.dirname, '..', '..', 'bin', 'everthread.js');

async function startWorker() {
  const folder = join(process.env.EVERTHREAD_TEST_FOLDER as string, randomUUID());
  mkdirSync(folder, { recursive: true });
  const store = await openStore('sqlite:store.db', folder);
  closeAfterTest(() => store.close());
  const model = scriptedModel((request) => says(`you said: ${request.messages.at(-1)?.content}`));
  const runtime = await testRuntime({ model, store });
  const threadId = `t-${randomUUID()}`;
  const workflowId = `thread/${threadId}`;
  const temporal = async (...args: string[]) => {
    const address = ['--address', process.env.TEMPORAL_ADDRESS as string];
    return (await run(process.env.EVERTHREAD_TEST_TEMPORAL_CLI as string, [...args, ...address])).stdout;
  };
  const toThread = (deed: string[], ...args: string[]) =>
    temporal('workflow', ...deed, '--workflow-id', workflowId, ...args);
  const named = (deed: string[]) => (name: string, input?: string) =>
    toThread(deed, '--name', name, ...(input === undefined ? [] : ['--input', input]));
  const everthread = async (...args: string[]) => {
    const env = { ...process.env, EVERTHREAD_STORE: `sqlite:${join(folder, 'store.db')}` };
    return (await run(process.execPath, [...PROGRAM_OPTIONS, COMMAND, ...args], { env })).stdout;
  };
  return {
    runtime,
    threadId,
    everthread,
    start: () =>
      toThread(
        ['start'],
        '--type',
        'thread',
        '--task-queue',
        runtime.taskQueue,
        '--input',
        '{"agent":"helper"}',
      ),
    signal: named(['signal']),
    update: named(['update', 'execute']),
    query: (type: string) => toThread(['query'], '--type', type),
  };
}

describe('the plain temporal CLI', () => {
  it('starts a thread, signals a message, and the answer is in `everthread threads show`', async () => {
    const { runtime, threadId, start, signal, everthread } = await startWorker();
    await start();
    await signal('queueMessage', '{"content":"hello"}');
    await eventually(
      'the answer is stored',
      async () => (await runtime.store.threads.get(threadId))?.stopReason === 'stop_on_response',
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

  it('sendMessage returns the id, and refuses with a code', async () => {
    const { runtime, threadId, start, update } = await startWorker();
    await start();
    expect(await update('sendMessage', '{"content":"hi","id":"m1"}')).toContain('map[id:m1]');
    await expect(update('sendMessage', '{"content":""}')).rejects.toMatchObject({
      stderr: expect.stringContaining('non-empty'),
    });
    await runtime.client.terminate(threadId);
    await runtime.client.waitForIdle(threadId);
    await expect(update('sendMessage', '{"content":"hi"}')).rejects.toBeDefined();
  });

  it('queries the status, stops and terminates', async () => {
    const { runtime, threadId, start, signal, query } = await startWorker();
    await start();
    await eventually('it waits', async () =>
      (await query('status').catch(() => '')).includes('waiting for a message'),
    );
    await signal('stop', '{"reason":"a break"}');
    await eventually(
      'it is stopped',
      async () => (await runtime.store.threads.get(threadId))?.status === 'stopped',
    );
    await signal('terminate');
    await eventually(
      'it is terminated',
      async () => (await runtime.store.threads.get(threadId))?.status === 'terminated',
    );
  });
});
