/**
 * Runs every command of examples/README.md, with other thread ids, against a real server and the librarian of agents/.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { loadProject } from '../../src/definitions/index.ts';
import { PLAIN_IMPORTS } from '../support/program-options.ts';
import { testRuntime } from '../support/runtime.ts';

const README = readFileSync('examples/README.md', 'utf8');

describe('examples/README.md', () => {
  it('starts, messages, stops and ends threads with the client scripts', async () => {
    const { store, run } = await librarian();
    const commands = [...README.matchAll(/`(node scripts\/run\.mjs examples\/[^`]+)`/g)].map(
      // Renames the threads: other test files may use the same short ids on this server.
      ([, command = '']) => command.replaceAll(/\bt(\d)\b/g, 'script-t$1'),
    );
    expect(commands).toHaveLength(6);
    for (const command of commands) await run(command);
    expect((await store.threads.get('script-t1'))?.status).toBe('terminated');
  });

  it('does the same with the temporal CLI', async () => {
    const { store, run } = await librarian();
    // The previous test has terminated its threads: this one runs the same commands with other threads.
    const commands = readIndented(README).map((command) => command.replaceAll('thread/t', 'thread/cli-t'));
    expect(commands.length).toBeGreaterThanOrEqual(10);
    for (const command of commands) await run(command);
    for (const id of ['cli-t1', 'cli-t2']) {
      const { stdout } = await run(`temporal workflow result --workflow-id thread/${id}`);
      expect(stdout).toContain('"outcome":"terminated"');
      expect((await store.threads.get(id))?.status).toBe('terminated');
    }
  });

  it('revives a killed workflow with signal-with-start', async () => {
    const { client, run } = await librarian();
    const start = readIndented(README)
      .find((command) => command.includes('signal-with-start'))
      ?.replace('thread/t2', 'thread/killed') as string;
    await run(start);
    await client.waitForIdle('killed');
    await run('temporal workflow terminate --workflow-id thread/killed');
    await run(start);
    await client.waitForIdle('killed');
    const { messages } = await client.getMessages('killed');
    expect(messages.filter(({ role }) => role === 'user')).toHaveLength(2);
  });
});

async function librarian() {
  for (const name of ['OPENAI_API_KEY', 'OPENAI_BASE_URL', 'EVERTHREAD_DEMO_MODEL_URL'])
    delete process.env[name];
  // No pause between chunks: nobody reads the stream.
  process.env.EVERTHREAD_DEMO_CHUNK_DELAY_MS = '0';
  const { registry } = await loadProject(process.cwd());
  const runtime = await testRuntime({ registry });
  return { ...runtime, run: (command: string) => runCommand(command, runtime.taskQueue) };
}

/** Returns the commands of code blocks; a line that ends with \ continues on the next. */
function readIndented(markdown: string): string[] {
  const joined = markdown.replaceAll(/\\\n\s+/g, '');
  return [...joined.matchAll(/^ {4}(temporal .*)$/gm)].map(([, command = '']) => command);
}

/**
 * Runs a command; rejects if it fails. It uses the test's own task queue, because the server remembers the pollers of a
 * queue for a while.
 */
async function runCommand(command: string, taskQueue: string): Promise<{ stdout: string }> {
  const folder = join(process.env.EVERTHREAD_TEST_FOLDER as string, 'bin');
  mkdirSync(folder, { recursive: true });
  if (!existsSync(join(folder, 'temporal'))) {
    symlinkSync(process.env.EVERTHREAD_TEST_TEMPORAL_CLI as string, join(folder, 'temporal'));
  }
  const PATH = [folder, dirname(process.execPath), process.env.PATH].join(delimiter);
  const own = command.replace('--task-queue everthread', `--task-queue ${taskQueue}`);
  return promisify(execFile)('/bin/sh', ['-c', own], {
    env: {
      ...process.env,
      PATH,
      EVERTHREAD_TASK_QUEUE: taskQueue,
      NODE_OPTIONS: `--import=${PLAIN_IMPORTS}`,
    },
  });
}
