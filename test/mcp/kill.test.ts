/**
 * A worker is killed during calls of MCP servers: each call ran at most once, unless its author declared it idempotent.
 * The servers are ours, which count calls, and two published ones.
 */
import { execFileSync, spawn } from 'node:child_process';
import { closeSync, constants, existsSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { findFreePorts } from '../../src/temporal-service/free-port.ts';
import { calls, says } from '../../src/testing/index.ts';
import { eventually } from '../support/eventually.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { type HoldingProxy, holdingProxy } from '../support/holding-proxy.ts';
import { isAlive, processTree } from '../support/process-tree.ts';
import type { KilledServers } from './kill-worker-process.ts';

const PLAIN = join(import.meta.dirname, 'plain-server.mjs');
const published = (name: string) =>
  join(import.meta.dirname, `../../node_modules/@modelcontextprotocol/server-${name}/dist/index.js`);

describe('a worker killed during calls to MCP servers', () => {
  let cluster: Cluster;
  /** Servers over HTTP are not child processes of the worker. */
  const far: { kill(): void }[] = [];
  const startFar = (args: string[], env: Readonly<Record<string, string>> = {}) => {
    const server = spawn(process.execPath, args, { stdio: 'ignore', env: { ...process.env, ...env } });
    far.push({ kill: () => server.kill('SIGKILL') });
  };
  const at = (name: string) => join(cluster.folder, name);

  beforeAll(async () => {
    cluster = await startCluster({
      program: join(import.meta.dirname, 'kill-worker-process.ts'),
      // The message to a thread is the call that its model makes.
      script: ({ messages }) => {
        const last = messages.at(-1);
        if (last?.role !== 'user') return says(String(last?.content));
        const [name = '', ...given] = String(last.content).split(' ');
        return calls(name, JSON.parse(given.join(' ')));
      },
    });
    startFar([PLAIN, at('far'), 'http']);
    const farPort = () => lines('far')[0]?.split(' ')[1];
    const farUrl = `http://127.0.0.1:${await eventually('its port', farPort)}/mcp`;
    const [port] = await findFreePorts(1);
    startFar([published('everything'), 'streamableHttp'], { PORT: String(port) });
    const isThere = () => fetch(`http://127.0.0.1:${port}/mcp`).then(Boolean, () => false);
    await eventually('the published server', isThere);
    for (const name of ['all_once', 'all_again'])
      proxies.set(name, await holdingProxy(`http://127.0.0.1:${port}/mcp`));
    const all = (name: string) => ({ url: proxies.get(name)?.url ?? '', timeoutMs: 300_000 });
    const own = { command: process.execPath };
    const known: KilledServers = {
      servers: {
        near: { ...own, args: [PLAIN, at('near')], idempotent: ['hold_again'] },
        far: { url: farUrl, timeoutMs: 300_000, idempotent: ['hold_again'] },
        files: { ...own, args: [published('filesystem'), cluster.folder], idempotent: ['read_text_file'] },
        all_once: all('all_once'),
        all_again: { ...all('all_again'), idempotent: true },
      },
      tools: {
        near_once: 'near/hold',
        near_again: 'near/hold_again',
        far_once: 'far/hold',
        far_again: 'far/hold_again',
        // Two names of the server for the same tool.
        files_once: 'files/read_file',
        files_again: 'files/read_text_file',
        all_once: `all_once/${LONG}`,
        all_again: `all_again/${LONG}`,
      },
    };
    writeFileSync(at('servers.json'), JSON.stringify(known));
    await cluster.keep(1);
    const pipes = ['files_once', 'files_again'].map((name) => at(`${name}.pipe`));
    execFileSync('mkfifo', pipes);
    for (const [name, tool] of Object.entries(known.tools)) {
      const given = tool.endsWith(LONG)
        ? { duration: 0.2, steps: 2 }
        : tool.startsWith('files/')
          ? { path: at(`${name}.pipe`) }
          : {};
      const call = `mcp__${tool.replace('/', '__')} ${JSON.stringify(given)}`;
      threads.set(name, await cluster.begin(call, name));
    }
    // A slow machine may have made a worker seem lost before: then idempotent calls have been repeated already.
    await eventually('the calls', () =>
      HELD.every((place) => held(place).once >= 1 && held(place).again >= 1),
    );
    await eventually('the long operations', () => [...proxies.values()].every(({ calls }) => calls >= 1));
    for (const path of pipes) open.set(path, await eventually('a reader', () => openForReader(path)));
    await kill();
    for (const pipe of open.values()) closeSync(pipe);
    // A file, not a pipe: every attempt from here on reads the same, however many a slow machine makes.
    rmSync(at('files_again.pipe'));
    writeFileSync(at('files_again.pipe'), 'hello');
    for (const proxy of proxies.values()) proxy.release();
    for (const place of HELD) writeFileSync(at(`${place}.release`), '');
    await cluster.keep(1);
  });
  afterAll(async () => {
    for (const server of far) server.kill();
    for (const proxy of proxies.values()) proxy.close();
    await cluster?.close();
  });

  const LONG = 'trigger-long-running-operation';
  const HELD = ['near', 'far'];
  const proxies = new Map<string, HoldingProxy>();
  const threads = new Map<string, string>();
  /** Open file descriptors of pipes that are being read, by path. */
  const open = new Map<string, number>();
  const threadOf = (name: string) => threads.get(name) ?? '';
  const lines = (name: string) =>
    existsSync(at(name)) ? readFileSync(at(name), 'utf8').split('\n').filter(Boolean) : [];
  /** How often each of the two tools was called. */
  const held = (place: string) => {
    const count = (tool: string) => lines(place).filter((line) => line === tool).length;
    return { once: count('hold'), again: count('hold_again') };
  };
  const eventsOf = async (name: string, type: string) =>
    (await cluster.store.events.read(threadOf(name), 0)).filter((event) => event.type === type);

  /** Kills the worker, and waits until its process guardian and its servers have ended. */
  async function kill(): Promise<void> {
    const [worker] = cluster.workers;
    const family = processTree(worker?.pid ?? 0);
    await worker?.end('SIGKILL');
    await eventually('the end of all that it has started', () => !family.some(isAlive));
  }

  async function requireUnknown(name: string): Promise<void> {
    await cluster.client.waitForIdle(threadOf(name));
    expect(await eventsOf(name, 'tool.unknown')).toHaveLength(1);
    expect((await cluster.transcript(threadOf(name)))[2]).toMatch(/^tool [\w-]+ error/);
  }

  async function lastOf(name: string): Promise<string | undefined> {
    await cluster.client.waitForIdle(threadOf(name));
    return (await cluster.transcript(threadOf(name))).at(-1);
  }

  it.each([
    ['over standard streams', 'near'],
    ['over HTTP', 'far'],
  ])(
    'sends each call once, again only if it is idempotent, and its servers exit with it: %s',
    async (_how, place) => {
      await requireUnknown(`${place}_once`);
      expect(await lastOf(`${place}_again`)).toBe('assistant: let go');
      const { once, again } = held(place);
      expect(once).toBe(1);
      expect(again).toBeGreaterThan(1);
    },
  );

  it('repeats a call to the published file server only if it is idempotent', async () => {
    await requireUnknown('files_once');
    expect(await lastOf('files_again')).toBe('assistant: hello');
  });

  it('repeats a long call to the published everything server over HTTP only if it is idempotent', async () => {
    await requireUnknown('all_once');
    expect(await lastOf('all_again')).toContain('Long running operation completed');
    expect(proxies.get('all_once')?.calls).toBe(1);
    expect(proxies.get('all_again')?.calls).toBeGreaterThan(1);
  });
});

/** Undefined if no process reads the pipe. */
function openForReader(pipe: string): number | undefined {
  try {
    return openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
}
