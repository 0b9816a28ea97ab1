/**
 * `everthread worker` supervises a worker process, as `everthread dev` does: it restarts the process after a crash, and
 * never leaves it behind.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { isAlive, processTree, workerBelow } from '../support/process-tree.ts';
import { type CliProject, cliProject, HELPER, type Running, seen, tailOfNew } from './support.ts';

const onLinux = process.platform === 'linux' ? describe : describe.skip;

/** If twenty processes share two cores, a worker is ready only after more than a minute. */
const START_MS = 120_000;

let project: CliProject;

const seeWorkerAgain = (command: Running, times: number) =>
  eventually('a worker again', () => readyTimes(command) > times, START_MS);

const workerOf = (command: Running) => workerBelow(command.process.pid as number) as number;
const readyTimes = (command: Running) => command.stdout().split('"event":"ready"').length - 1;

onLinux('a worker process whose supervisor is told nothing', () => {
  let command: Running;

  beforeAll(async () => {
    project = await cliProject(HELPER);
    command = project.start(['worker', '--json']);
    await seen(command, '"event":"ready"', START_MS);
  });
  afterAll(() => project.remove());

  it('opens no debugger on SIGUSR1, nor does its supervisor', async () => {
    const tree = processTree(command.process.pid as number);
    const listening = () => listeners(tree);
    const before = listening();
    for (const pid of [command.process.pid as number, workerOf(command)]) process.kill(pid, 'SIGUSR1');
    expect((await project.run(['threads', 'start', 'helper', 'hello', '--wait'])).stdout).toBe(
      'You said: hello\n',
    );
    expect(command.stderr()).not.toContain('Debugger listening');
    expect(listening()).toEqual(before);
    expect(tree.filter((pid) => !isAlive(pid))).toEqual([]);
  });

  it('that is killed, or terminated by another process, is restarted, each time after a longer wait that is logged', async () => {
    for (const [times, signal, how, wait] of [
      [1, 'SIGKILL', 'signal SIGKILL', '0.2 s'],
      // No crash: the process ended in order.
      [2, 'SIGTERM', 'exit code 0', '0.4 s'],
    ] as const) {
      const pid = workerOf(command);
      process.kill(pid, signal);
      await seen(command, `Worker process ${pid} has ended (${how}): it is restarted in ${wait}`);
      await seeWorkerAgain(command, times);
    }
    expect((await project.run(['threads', 'start', 'helper', 'hello', '--wait'])).stdout).toBe(
      'You said: hello\n',
    );
  });

  it('takes Ctrl-C, which reaches both processes, as one request to finish', async () => {
    await seen(await tailOfNew(project, 'hang please'), 'I begin');
    const said = command.stderr().length;
    for (const pid of [command.process.pid as number, workerOf(command)]) process.kill(pid, 'SIGINT');
    const { code, stderr } = await command.ended;
    const stopped = stderr.slice(said).includes('Worker stopped.');
    expect({ code, stopped }).toEqual({ code: 0, stopped: true });
  });
});

onLinux('a worker process', () => {
  beforeAll(async () => {
    project = await cliProject({ ...HELPER, 'agents/agents/helper.ts': 'export default 7;\n' });
  });
  afterAll(() => project.remove());

  it('that cannot start is not retried: its exit code is that of the command', async () => {
    const { code, stderr } = await project.run(['worker']);
    expect(code).toBe(2);
    expect(stderr).toContain('agents/agents/helper.ts');
    expect(stderr).not.toContain('started again');
  });
});

onLinux('a worker of a project without agents', () => {
  beforeAll(async () => {
    project = await cliProject({ 'agents/agents/_none.ts': '' });
  });
  afterAll(() => project.remove());

  it('works, and says where to put one', async () => {
    const worker = project.start(['worker']);
    await seen(
      worker,
      'Worker ready: no agents yet, put one into agents/agents/ and start it again, on task queue',
    );
    worker.process.kill('SIGTERM');
    expect((await worker.ended).code).toBe(0);
  });
});

/** Returns the addresses at which these processes listen. */
function listeners(pids: readonly number[]): string[] {
  const sockets = new Set(pids.flatMap(socketsOf));
  return ['tcp', 'tcp6']
    .flatMap((name) => readFileSync(`/proc/net/${name}`, 'utf8').trim().split('\n').slice(1))
    .map((row) => row.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode]) => state === LISTENING && sockets.has(`socket:[${inode}]`))
    .map(([, address = '']) => address);
}

const LISTENING = '0A';

function socketsOf(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`);
    } catch {
      // The descriptor was closed in the meantime.
      return [];
    }
  });
}
