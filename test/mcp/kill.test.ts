/** A worker is killed in the midst of calls of MCP servers: each ran at most once, unless its author says that it may run again. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { calls, says } from '../../src/testing/index.ts';
import { eventually } from '../support/eventually.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';

const PLAIN = join(import.meta.dirname, 'plain-server.mjs');

describe('a worker that is killed while servers of MCP work for it', () => {
  let cluster: Cluster;
  /** Servers over HTTP are nobody's children; each has the calls of one thread. */
  const far: { kill(): void }[] = [];

  beforeAll(async () => {
    cluster = await startCluster({
      program: join(import.meta.dirname, 'kill-worker-process.ts'),
      script: ({ messages }) => {
        const last = messages.at(-1);
        return last?.role === 'user' ? calls(`mcp__${last.content}__hold`, {}) : says(String(last?.content));
      },
    });
    for (const name of ['far_once', 'far_again']) {
      const server = spawn(process.execPath, [PLAIN, join(cluster.folder, name), 'http'], {
        stdio: 'ignore',
      });
      far.push({ kill: () => server.kill('SIGKILL') });
      const port = await eventually('its port', () => lines(name)[0]?.split(' ')[1]);
      writeFileSync(join(cluster.folder, `${name}.url`), `http://127.0.0.1:${port}/mcp`);
    }
    await cluster.keep(1);
  });
  afterAll(async () => {
    for (const server of far) server.kill();
    await cluster?.close();
  });

  const lines = (name: string) => {
    const journal = join(cluster.folder, name);
    return existsSync(journal) ? readFileSync(journal, 'utf8').split('\n').filter(Boolean) : [];
  };
  const held = (name: string) => lines(name).filter((line) => line === 'hold').length;

  it.each([
    ['over standard streams', 'once', 'again'],
    ['over HTTP', 'far_once', 'far_again'],
  ])(
    'has sent each call once, and again where that does no harm; its servers are gone with it: %s',
    async (_how, once, again) => {
      const [first, second] = await Promise.all([cluster.begin(once), cluster.begin(again)]);
      // A slow machine may have taken a worker for lost before: then the one that may has been sent again already.
      await eventually('both calls', () => held(once) >= 1 && held(again) >= 1);
      const pids = [...lines(once), ...lines(again)].flatMap((line) =>
        line.startsWith('started') ? [Number(line.split(' ')[1])] : [],
      );
      await cluster.workers[0]?.end('SIGKILL');
      await eventually('the end of the servers', () => !pids.some(isAlive));
      for (const name of [once, again]) writeFileSync(join(cluster.folder, `${name}.release`), '');
      await cluster.keep(1);
      await Promise.all([first, second].map((thread) => cluster.client.waitForIdle(thread)));
      expect(held(once)).toBe(1);
      expect(held(again)).toBeGreaterThan(1);
      expect((await cluster.transcript(second)).at(-1)).toBe('assistant: let go');
      const unknown = (await cluster.store.events.read(first, 0)).filter(
        ({ type }) => type === 'tool.unknown',
      );
      expect(unknown).toHaveLength(1);
    },
  );
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
