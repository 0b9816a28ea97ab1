/** Commands that wait say who is away, and go on once they are back. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { workerBelow } from '../support/process-tree.ts';
import { type CliProject, cliProject, HELPER, seen } from './support.ts';

let project: CliProject;
const env = { TEMPORAL_ADDRESS: undefined, TEMPORAL_NAMESPACE: undefined };

beforeAll(async () => {
  project = await cliProject(HELPER);
});
afterAll(() => project.remove());

it('--wait tells of a worker and of a server that are away and come back, and ends with the answer', async () => {
  const dev = project.start(['dev'], env);
  await seen(dev, 'Next, in another terminal:');
  const server = JSON.parse(readFileSync(join(project.folder, '.everthread', 'dev.json'), 'utf8')) as {
    readonly pid: number;
    readonly address: string;
  };
  const worker = workerBelow(dev.process.pid as number) as number;
  process.kill(worker, 'SIGSTOP');
  const waiting = project.start(['threads', 'start', 'helper', 'hello', '--wait'], env);
  await seen(
    waiting,
    /No worker answers on task queue "cli-\S+"\. Waiting for one; "everthread dev" starts one\./,
  );
  process.kill(server.pid, 'SIGSTOP');
  await seen(
    waiting,
    `The Temporal server at ${server.address} does not answer. Waiting for it; nothing is lost.`,
  );
  process.kill(server.pid, 'SIGCONT');
  await seen(waiting, /The Temporal server answers again\.|No worker answers[\s\S]+No worker answers/);
  process.kill(worker, 'SIGCONT');
  expect(await waiting.ended).toMatchObject({ code: 0, stdout: 'You said: hello\n' });
  dev.process.kill('SIGINT');
  expect((await dev.ended).code).toBe(0);
});
