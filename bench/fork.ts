/**
 * What a fork of a long thread costs on both engines: milliseconds, the longest time for which the process did nothing else, and
 * bytes on the disk. `node_modules/.bin/node bench/fork.ts [--json FILE] [--quick]`
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { sql } from 'kysely';
import { openStore } from '../src/store/open-store.ts';
import { call, message, openThread } from '../test/contract/thread-driver.ts';
import { openBeside } from '../test/support/database-beside.ts';
import { lengthen } from '../test/support/long-thread.ts';
import { openPostgresBench } from './support/postgres-bench.ts';
import { type Line, readOptions, report } from './support/report.ts';

const { json, quick } = readOptions();
const lengths = quick ? [500] : [500, 50_000];
const lines: Line[] = [];
await measure('SQLite', 'sqlite:store.db');
const postgres = await openPostgresBench();
try {
  await measure('PostgreSQL', postgres.address);
} finally {
  await postgres.close();
}
report('A fork', lines, json);

async function measure(engine: string, address: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'everthread-fork-'));
  const store = await openStore(address, folder);
  const beside = await openBeside(address, folder);
  const isFile = address.startsWith('sqlite');
  const bytes = async () => {
    if (isFile) {
      await sql`PRAGMA wal_checkpoint(TRUNCATE)`.execute(beside);
      return statSync(join(folder, 'store.db')).size;
    }
    const { rows } = await sql<{ size: string }>`SELECT pg_total_relation_size('messages') AS size`.execute(
      beside,
    );
    return Number(rows[0]?.size);
  };
  try {
    for (const length of lengths) {
      const thread = await openThread(store);
      const content = 'A word to be remembered, with its number and its circumstances. '.repeat(4);
      await thread.answer([message('a', content)], { content, toolCalls: [call('c', 'look')] });
      await thread.runTool(1, 0);
      thread.afterStep = 1;
      await thread.answer([], { content });
      await thread.rest();
      const messages = await lengthen(beside, thread.id, length);
      const before = await bytes();
      const delay = monitorEventLoopDelay({ resolution: 1 });
      delay.enable();
      const begun = performance.now();
      await store.threads.fork({ threadId: thread.id, forkId: `${thread.id}-fork` });
      const ms = performance.now() - begun;
      delay.disable();
      const what = `${engine}, ${messages} messages`;
      lines.push(
        { what: `${what}: time`, value: Math.round(ms), unit: 'ms' },
        { what: `${what}: longest block`, value: Math.round(delay.max / 1e6), unit: 'ms' },
        { what: `${what}: on disk`, value: (await bytes()) - before, unit: 'bytes' },
      );
    }
  } finally {
    await beside.destroy();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
