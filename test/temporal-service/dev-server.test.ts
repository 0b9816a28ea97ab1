import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { requireOwn } from '../../src/cli/connection/find-server.ts';
import { readDevFile, writeDevFile } from '../../src/temporal-service/dev-file.ts';
import { type ResolvedServer, resolveServer } from '../../src/temporal-service/dev-server.ts';
import { findTemporalBinary } from '../../src/temporal-service/find-binary.ts';
import { findFreePorts } from '../../src/temporal-service/free-port.ts';
import { startLocalServer } from '../../src/temporal-service/start-server.ts';
import { eventually } from '../support/eventually.ts';
import { isAlive, makeFolder, removeFolders } from './support.ts';

let binary: string;
let projectDir: string;
let port: number;
let uiPort: number;
let lines: string[];
const resolved: ResolvedServer[] = [];

beforeAll(async () => {
  binary = (await findTemporalBinary({ progress: console.log })).path;
}, 600_000);

async function makeProject(): Promise<void> {
  [projectDir, lines] = [makeFolder(), []];
  // Used instead of 7233 and 8233, where this machine may have a server.
  [port, uiPort] = (await findFreePorts(2)) as [number, number];
}

async function endServers(): Promise<void> {
  for (const { started } of resolved.splice(0)) {
    // Saves the second that a graceful stop takes.
    await started?.kill();
    await started?.stop();
  }
  removeFolders();
}

async function resolve(
  env: NodeJS.ProcessEnv = {},
  project = projectDir,
  answerWithinMs?: number,
): Promise<ResolvedServer> {
  const server = await resolveServer({
    projectDir: project,
    progress: (line) => lines.push(line),
    // A separate home folder, since this user may have a Temporal profile.
    env: { HOME: projectDir, EVERTHREAD_TEMPORAL_CLI: binary, ...env },
    port,
    uiPort,
    answerWithinMs,
  });
  resolved.push(server);
  return server;
}

const devFile = () => join(projectDir, '.everthread', 'dev.json');

// On Windows there is no signal that suspends a process.
const posixTest = process.platform === 'win32' ? test.skip : test;

describe('one server shared by all cases', () => {
  let server: ResolvedServer;
  const pid = () => server.started!.pid;

  beforeAll(makeProject);
  beforeEach(() => {
    lines = [];
  });
  afterAll(endServers);

  test('[dev-server I3] two commands of one project at the same time share one server', async () => {
    const servers = await Promise.all([resolve(), resolve()]);
    server = servers.find(({ source }) => source === 'started')!;
    expect(servers.map(({ source }) => source).sort()).toEqual(['project', 'started']);
    expect(servers[0]!.address).toBe(servers[1]!.address);
  });

  posixTest(
    '[dev-server I3] a server of the project that is late with its answer is waited for',
    async () => {
      process.kill(pid(), 'SIGSTOP');
      const second = resolve();
      await eventually('told', () => lines.join('\n').includes(`process ${pid()} at ${server.address}`));
      process.kill(pid(), 'SIGCONT');
      await expect(second).resolves.toMatchObject({ source: 'project', address: server.address });
    },
  );

  posixTest(
    '[dev-server I3] one that lives and never answers is an error that names it, not a reason for a second',
    async () => {
      process.kill(pid(), 'SIGSTOP');
      const refused = await resolve({}, projectDir, 1_000).catch((error) => error);
      process.kill(pid(), 'SIGCONT');
      expect(refused).toMatchObject({
        code: 'TemporalUnavailable',
        message: expect.stringMatching(`process ${pid()} at ${server.address}.+end process ${pid()}`),
      });
      await expect(resolve()).resolves.toMatchObject({ source: 'project', address: server.address });
    },
  );

  test('[dev-server I1] a configured service is used, by address and by profile', async () => {
    const { address } = server;
    const TEMPORAL_CONFIG_FILE = join(projectDir, 'temporal.toml');
    writeFileSync(TEMPORAL_CONFIG_FILE, `[profile.work]\naddress = "${address}"\nnamespace = "default"\n`);
    for (const env of [{ TEMPORAL_ADDRESS: address }, { TEMPORAL_CONFIG_FILE, TEMPORAL_PROFILE: 'work' }]) {
      await expect(resolve(env)).resolves.toEqual({ address, namespace: 'default', source: 'configured' });
    }
  });

  test("[dev-server] another project's server at the usual ports is ignored: the second one gets other ports", async () => {
    const second = makeFolder();
    const guess = { ...server, guessedFor: second, connection: { address: server.address } };
    await expect(requireOwn(guess)).rejects.toMatchObject({
      code: 'TemporalUnavailable',
      message: expect.stringContaining(projectDir),
    });
    await requireOwn({ ...guess, guessedFor: projectDir });
    const own = await resolve({}, second);
    expect(own.source).toBe('started');
    expect([own.address, own.uiUrl]).not.toContain(server.address);
    expect(own.uiUrl).not.toBe(server.uiUrl);
    expect(lines.join('\n')).toContain(`belongs to another project, ${projectDir}`);
  });

  posixTest('[dev-server I3] one that is about to end is outlived before another is started', async () => {
    const { started } = server;
    const { pid } = started!;
    process.kill(pid, 'SIGSTOP');
    const second = resolve();
    await eventually('told', () => lines.join('\n').includes(`process ${pid} `));
    const alive = isAlive(pid);
    await started!.kill();
    expect(alive).toBe(true);
    server = await second;
    expect(server.source).toBe('started');
    expect(readDevFile(projectDir)).toMatchObject({ pid: server.started!.pid });
  });

  test('[dev-server I3] a server stays in dev.json until it has ended', async () => {
    const { started } = server;
    const stopped = started!.stop();
    expect(readDevFile(projectDir)).toMatchObject({ pid: started!.pid });
    await stopped;
    expect(existsSync(devFile())).toBe(false);
  });
});

describe('separate servers', () => {
  beforeEach(makeProject);
  afterEach(endServers);

  test('[dev-server] without a server, one is started at the usual ports with its database in the project', async () => {
    const server = await resolve({ TEMPORAL_NAMESPACE: 'mine' });
    expect(server).toMatchObject({
      address: `127.0.0.1:${port}`,
      uiUrl: `http://127.0.0.1:${uiPort}`,
      namespace: 'mine',
      source: 'started',
    });
    const [version] = /\d+\.\d+\.\d+/.exec(lines.join())!;
    expect(existsSync(join(projectDir, '.everthread', `temporal-${version}.db`))).toBe(true);
    const { address, namespace, uiUrl } = server;
    expect(JSON.parse(readFileSync(devFile(), 'utf8'))).toEqual({
      address,
      namespace,
      uiUrl,
      pid: server.started!.pid,
    });
  });

  test('[dev-server] a server whose database was removed is reported, and its files were private to their owner', async () => {
    const { lost, started } = await resolve();
    const folder = join(projectDir, '.everthread');
    const modes = readdirSync(folder).map(
      (name) => `${name} ${(statSync(join(folder, name)).mode & 0o777).toString(8)}`,
    );
    expect(modes.length).toBeGreaterThanOrEqual(5);
    expect(modes.filter((mode) => !mode.endsWith(' 600'))).toEqual([]);
    expect(lost?.aborted).toBe(false);
    for (const name of readdirSync(folder).filter((name) => name.startsWith('temporal-')))
      rmSync(join(folder, name));
    await eventually('the loss is told', () => lost?.aborted === true);
    expect(lost?.reason).toMatchObject({ code: 'StoreLost' });
    expect(isAlive(started!.pid)).toBe(true);
  });

  test('[dev-server] dev.json follows a restart, counts as absent after a crash, and is removed on stop', async () => {
    const { started } = await resolve();
    await started!.kill();
    expect(existsSync(devFile())).toBe(true);
    expect(readDevFile(projectDir)).toBeUndefined();
    await started!.restart();
    expect(readDevFile(projectDir)).toMatchObject({ pid: started!.pid });
    await started!.stop();
    expect(existsSync(devFile())).toBe(false);
  });

  test('[dev-server] a process id reused by another program is not waited for', async () => {
    writeDevFile(projectDir, { address: `127.0.0.1:${port}`, namespace: 'default', pid: process.pid });
    // Where command lines cannot be read, the user has to remove such a file.
    if (process.platform === 'win32')
      await expect(resolve({}, projectDir, 1_000)).rejects.toThrow('dev.json');
    else await expect(resolve()).resolves.toMatchObject({ source: 'started' });
  });

  test('[dev-server] a server at the usual port is used if it belongs to no other project', async () => {
    const server = await startLocalServer({ binary, port, uiPort });
    try {
      await expect(resolve()).resolves.toEqual({
        address: server.address,
        namespace: 'default',
        uiUrl: `http://127.0.0.1:${uiPort}`,
        source: 'found',
      });
    } finally {
      await server.stop();
    }
  });

  test('[dev-server] if the usual port is in use, ours takes a free one', async () => {
    const other = createServer((socket) => socket.destroy()).listen(port, '127.0.0.1');
    const server = await resolve({}, projectDir, 500);
    expect(server.source).toBe('started');
    expect(server.address).not.toBe(`127.0.0.1:${port}`);
    expect(lines.join('\n')).toContain(`The service at 127.0.0.1:${port} cannot be used`);
    await new Promise((done) => other.close(done));
  });

  test('[dev-server I1] a configured service that does not answer is an error that names it', async () => {
    await expect(resolve({ TEMPORAL_ADDRESS: `127.0.0.1:${port}` })).rejects.toMatchObject({
      code: 'TemporalUnavailable',
      message: expect.stringContaining(`127.0.0.1:${port}`),
    });
    expect(existsSync(devFile())).toBe(false);
  });

  test('[dev-file] an unreadable file counts as absent', () => {
    writeDevFile(projectDir, { address: '127.0.0.1:1', namespace: 'default', pid: process.pid });
    expect(readDevFile(projectDir)).toEqual({
      address: '127.0.0.1:1',
      namespace: 'default',
      pid: process.pid,
    });
    writeFileSync(devFile(), '{"address": ');
    expect(readDevFile(projectDir)).toBeUndefined();
  });
});
