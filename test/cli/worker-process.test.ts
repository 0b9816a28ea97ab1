/** `everthread worker` and `everthread dev` keep a worker process: started again when it falls, never left behind. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { findFreePorts } from '../../src/temporal-service/free-port.ts';
import { eventually } from '../support/eventually.ts';
import { commandLine, isAlive, processTree, workerBelow } from '../support/process-tree.ts';
import { type CliProject, cliProject, HELPER, type Running, seen, tailOfNew } from './support.ts';

const onLinux = process.platform === 'linux' ? describe : describe.skip;

/** Where twenty processes share two cores, a worker is ready after more than a minute. */
const START_MS = 120_000;

let project: CliProject;

async function startReady(
  command: 'worker' | 'dev' = 'worker',
  env = {},
  more: readonly string[] = [],
): Promise<Running> {
  const started = project.start([command, '--json', ...more], env);
  await seen(started, '"event":"ready"', START_MS);
  return started;
}

const seeWorkerAgain = (command: Running, times: number) =>
  eventually('a worker again', () => readyTimes(command) > times, START_MS);

const workerOf = (command: Running) => workerBelow(command.process.pid as number) as number;
const readyTimes = (command: Running) => command.stdout().split('"event":"ready"').length - 1;

onLinux('a worker process whose supervisor is told nothing', () => {
  let command: Running;

  beforeAll(async () => {
    project = await cliProject(HELPER);
    command = await startReady();
  });
  afterAll(() => project.remove());

  it('opens no debugger to whoever sends SIGUSR1, nor does its supervisor', async () => {
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

  it('that is killed is started again, each time after a longer wait that is told', async () => {
    for (const [times, wait] of [
      [1, '0.2 s'],
      [2, '0.4 s'],
    ] as const) {
      const pid = workerOf(command);
      process.kill(pid, 'SIGKILL');
      await seen(command, `Worker process ${pid} has ended (signal SIGKILL): it is started again in ${wait}`);
      await seeWorkerAgain(command, times);
    }
    expect((await project.run(['threads', 'start', 'helper', 'hello', '--wait'])).stdout).toBe(
      'You said: hello\n',
    );
  });

  it('that was told to go by somebody else goes in order, and is started again', async () => {
    const before = readyTimes(command);
    process.kill(workerOf(command), 'SIGTERM');
    await seen(command, /has ended \(exit code 0\): it is started again/);
    await seeWorkerAgain(command, before);
  });

  it('hears Ctrl-C, which reaches both processes, as one wish to finish', async () => {
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

  it('that cannot start is not tried again: its exit code is that of the command', async () => {
    const { code, stderr } = await project.run(['worker']);
    expect(code).toBe(2);
    expect(stderr).toContain('agents/agents/helper.ts');
    expect(stderr).not.toContain('started again');
  });
});

onLinux('a worker process', () => {
  // A server of its own.
  const env = { TEMPORAL_ADDRESS: undefined, TEMPORAL_NAMESPACE: undefined };
  let port: number;
  let dev: Running;

  beforeAll(async () => {
    [port = 0] = await findFreePorts(1);
    project = await cliProject(HELPER);
    dev = await startReady('dev', env, ['--inspect', String(port)]);
  }, START_MS);
  afterAll(() => project.remove());

  it('of dev opens a debugger where it is asked to, on this machine, and no other process does', async () => {
    expect(dev.stdout()).toContain(`"inspector":"127.0.0.1:${port}"`);
    const targets = await (await fetch(`http://127.0.0.1:${port}/json/list`)).json();
    expect(targets).toMatchObject([{ title: expect.stringContaining('worker-program') }]);
    const inspectors = processTree(dev.process.pid as number).filter((pid) =>
      commandLine(pid).includes('--inspect='),
    );
    expect(inspectors).toEqual([workerOf(dev)]);
    expect(commandLine(workerOf(dev))).toContain(`--inspect=127.0.0.1:${port}`);
  });

  it('of dev may fall without its Temporal server', async () => {
    const server = () => readFileSync(join(project.folder, '.everthread', 'dev.json'), 'utf8');
    const before = server();
    process.kill(workerOf(dev), 'SIGKILL');
    await seeWorkerAgain(dev, 1);
    expect(server()).toBe(before);
    expect((await project.run(['threads', 'start', 'helper', 'hello', '--wait'], { env })).stdout).toBe(
      'You said: hello\n',
    );
    dev.process.kill('SIGINT');
    expect((await dev.ended).code).toBe(0);
  });
});

/** Ports that these processes listen at. */
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
      // Closed in the meantime.
      return [];
    }
  });
}
