import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { defineSearchAttributeKey } from '@temporalio/common';
import { findTemporalBinary } from '../../src/temporal-service/find-binary.ts';
import { findFreePorts, isListening } from '../../src/temporal-service/free-port.ts';
import { packagePath } from '../../src/temporal-service/package-root.ts';
import { ensureSearchAttributes } from '../../src/temporal-service/search-attributes.ts';
import { type LocalServer, startLocalServer } from '../../src/temporal-service/start-server.ts';
import { eventually } from '../support/eventually.ts';
import { isAlive, makeFolder, removeFolders, runScript, writeProgram } from './support.ts';

const NAMES = ['ThreadStatus', 'AgentId', 'ParentThreadId', 'RootThreadId'];

let binary: string;
const servers: LocalServer[] = [];

beforeAll(async () => {
  binary = (await findTemporalBinary({ progress: console.log })).path;
}, 600_000);
afterEach(async () => {
  for (const server of servers.splice(0)) await end(server);
});
afterAll(removeFolders);

async function end(server: LocalServer): Promise<void> {
  // Saves the second that a graceful stop takes.
  await server.kill();
  await server.stop();
}

async function start(options: Partial<Parameters<typeof startLocalServer>[0]> = {}): Promise<LocalServer> {
  const server = await startLocalServer({ binary, headless: true, ...options });
  servers.push(server);
  return server;
}

async function withClient<T>(server: LocalServer, work: (client: Client) => Promise<T>): Promise<T> {
  const connection = await Connection.connect({ address: server.address });
  try {
    return await work(new Client({ connection, namespace: server.namespace }));
  } finally {
    await connection.close();
  }
}

test('[start-server I3] a killed server restarts at the same address with the content of its database file', async () => {
  const server = await start({ dbFile: join(makeFolder(), 'new', 'temporal.db') });
  const [address, pid] = [server.address, server.pid];
  await withClient(server, async (client) => {
    await client.workflow.start('any', { taskQueue: 'nobody', workflowId: 'thread/kept' });
    await server.kill();
    expect(isAlive(pid)).toBe(false);
    await server.restart();
    expect(server.address).toBe(address);
    expect(server.pid).not.toBe(pid);
    // The same client: it reconnects by itself.
    const { status } = await client.workflow.getHandle('thread/kept').describe();
    expect(status.name).toBe('RUNNING');
  });
});

test('[start-server] stop ends the process and may be repeated', async () => {
  const server = await start();
  await server.stop();
  await server.stop();
  expect(isAlive(server.pid)).toBe(false);
  const [host, port] = server.address.split(':');
  expect(await isListening(host!, Number(port))).toBe(false);
});

test('[start-server] dynamic config of the caller is merged with ours', async () => {
  const folder = makeFolder();
  const log = join(folder, 'arguments');
  const fake = writeProgram(join(folder, 'temporal'), `echo "$@"`, 'exit 3');
  await start({ binary: fake, log, extraDynamicConfig: { 'limit.maxIDLength': 100 } }).catch(() => {});
  const started = readFileSync(log, 'utf8');
  expect(started).toContain('--dynamic-config-value limit.maxIDLength=100');
  expect(started).toContain('--dynamic-config-value history.transferProcessorMaxPollRPS=2000');
});

test('[start-server] a server that exits is reported with its last lines', async () => {
  const fake = writeProgram(join(makeFolder(), 'temporal'), 'echo "the disk is full" >&2', 'exit 3');
  await expect(start({ binary: fake })).rejects.toMatchObject({
    code: 'TemporalUnavailable',
    message: expect.stringMatching(/ended with exit code 3.*\nthe disk is full$/),
  });
});

test('[start-server] a missing program is reported', async () => {
  await expect(start({ binary: join(makeFolder(), 'absent') })).rejects.toMatchObject({
    code: 'TemporalUnavailable',
  });
});

test('[start-server] a port in use is reported, not taken for our server', async () => {
  const [port] = (await findFreePorts(1)) as [number];
  const other = createServer().listen(port, '127.0.0.1');
  await expect(start({ port })).rejects.toThrow(`127.0.0.1:${port} is already in use`);
  await new Promise((done) => other.close(done));
});

test.each(['SIGKILL', 'SIGINT', 'SIGTERM'] as const)(
  '[owned-process I1] the server ends when its parent is ended by %s',
  async (signal) => {
    const parent = runScript(`
      import { startLocalServer } from 'SOURCES/start-server.ts';
      const server = await startLocalServer({ binary: ${JSON.stringify(binary)}, headless: true });
      setInterval(() => {}, 1000);
      console.log('pid ' + server.pid + '.');
    `);
    await eventually('the server runs', () => /pid \d+\./.test(parent.output()));
    const pid = Number(/pid (\d+)/.exec(parent.output())![1]);
    expect(isAlive(pid)).toBe(true);
    parent.process.kill(signal);
    await eventually('the server has ended', () => !isAlive(pid));
  },
);

test('[owned-process I3] a parent that drops its server exits, and the server with it', async () => {
  const parent = runScript(`
    import { startLocalServer } from 'SOURCES/start-server.ts';
    const server = await startLocalServer({ binary: ${JSON.stringify(binary)}, headless: true });
    console.log('pid ' + server.pid + '.');
  `);
  // Its exit may be reported before its last output is read.
  await eventually(
    'the parent has ended',
    () => parent.process.exitCode !== null && /pid \d+\./.test(parent.output()),
  );
  const pid = Number(/pid (\d+)/.exec(parent.output())![1]);
  await eventually('the server has ended', () => !isAlive(pid));
});

describe('a started server', () => {
  let server: LocalServer;

  beforeAll(async () => {
    server = await startLocalServer({ binary, namespace: 'ours' });
  });
  afterAll(() => end(server));

  test('[start-server I1] a started server accepts a workflow with our search attributes at once, and has a Web UI', async () => {
    await withClient(server, async (client) => {
      const handle = await client.workflow.start('any', {
        taskQueue: 'nobody',
        workflowId: 'thread/1',
        typedSearchAttributes: NAMES.map((name) => ({
          key: defineSearchAttributeKey(name, 'KEYWORD'),
          value: name,
        })),
      });
      const { typedSearchAttributes } = await handle.describe();
      expect(typedSearchAttributes.get(defineSearchAttributeKey('AgentId', 'KEYWORD'))).toBe('AgentId');
    });
    expect((await fetch(server.uiUrl!)).ok).toBe(true);
  });

  test('[search-attributes] registering is idempotent, and missing attributes are created', async () => {
    await withClient(server, async ({ connection }) => {
      const open = connection as Connection;
      const nothingNew = { present: NAMES, missing: [], created: [] };
      await expect(ensureSearchAttributes(open, 'ours')).resolves.toEqual(nothingNew);
      // The namespace that every dev server has as well, not yet set up.
      await expect(ensureSearchAttributes(open, 'default')).resolves.toEqual({
        ...nothingNew,
        created: NAMES,
      });
      await expect(ensureSearchAttributes(open, 'default')).resolves.toEqual(nothingNew);
    });
  });

  test('[temporal] set-up-namespace.sh creates a namespace with our search attributes, and may be repeated', async () => {
    const env = {
      ...process.env,
      PATH: `${dirname(binary)}:${process.env.PATH}`,
      TEMPORAL_ADDRESS: server.address,
      TEMPORAL_NAMESPACE: 'by-script',
    };
    const setUp = () => promisify(execFile)('sh', [packagePath('temporal', 'set-up-namespace.sh')], { env });
    await setUp();
    await expect(setUp()).resolves.toMatchObject({ stdout: expect.stringContaining('by-script is ready') });
    await withClient(server, async ({ connection }) => {
      const report = await ensureSearchAttributes(connection as Connection, 'by-script');
      expect(report).toEqual({ present: NAMES, missing: [], created: [] });
    });
  });
});

describe('a server whose default namespace is not set up', () => {
  let server: LocalServer;

  beforeAll(async () => {
    server = await startLocalServer({ binary, headless: true, namespace: 'ours' });
  });
  afterAll(() => end(server));

  test('[search-attributes] an attribute of another type, and a namespace that refuses, are reported as missing', async () => {
    await withClient(server, async ({ connection }) => {
      const open = connection as Connection;
      const INT = 3;
      await open.operatorService.addSearchAttributes({
        namespace: 'default',
        searchAttributes: { AgentId: INT },
      });
      await expect(ensureSearchAttributes(open, 'default')).resolves.toMatchObject({ missing: ['AgentId'] });
      await expect(ensureSearchAttributes(open, 'absent')).resolves.toEqual({
        present: [],
        missing: NAMES,
        created: [],
      });
    });
  });

  test('[search-attributes] a service that does not answer is an error', async () => {
    await withClient(server, async ({ connection }) => {
      await server.kill();
      const open = connection as Connection;
      const attempt = open.withDeadline(Date.now() + 500, () => ensureSearchAttributes(open, 'default'));
      await expect(attempt).rejects.toMatchObject({ code: 'TemporalUnavailable' });
    });
  });
});
