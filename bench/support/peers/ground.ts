/** What a row stands on: its folder, its servers, their bytes on disk and their processor time. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePorts } from '../../../src/temporal-service/free-port.ts';
import { spawnOwned } from '../../../src/temporal-service/owned-process.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../../test/support/embedded-postgres.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { ask } from '../../../test/support/postgres.ts';
import { forgetSettings, startServer } from '../rig.ts';
import type { PeerOptions } from './peer.ts';
import type { Row } from './rows.ts';

export interface Ground {
  readonly options: Omit<PeerOptions, 'fail'>;
  /** Bytes of all that the row keeps: files, the Temporal server's too, and relations. */
  bytes(): Promise<number>;
  /** Processor time of the servers so far, in milliseconds. */
  serverMs(): number;
  close(): Promise<void>;
}

/** PostgreSQL is one server for all rows, each of which gets its own database. */
export interface Shared {
  readonly folder: string;
  readonly postgres: EmbeddedPostgres;
  close(): Promise<void>;
}

const RESTATE = ['peers', 'node_modules', '@restatedev'];

export async function openShared(): Promise<Shared> {
  forgetSettings();
  const folder = mkdtempSync(join(tmpdir(), 'everthread-peers-'));
  // The folder alone would outlive an interrupted process.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  const postgres = await startEmbeddedPostgres();
  return { folder, postgres, close: () => postgres.stop() };
}

export async function openGround({ folder: parent, postgres }: Shared, row: Row): Promise<Ground> {
  const folder = mkdtempSync(join(parent, 'row-'));
  const stops: (() => Promise<unknown>)[] = [];
  const pids: number[] = [];
  const server = row.temporal && (await startServer(row.temporal, folder));
  if (server) {
    stops.push(() => server.stop());
    pids.push(server.pid);
  }
  const database = row.postgres && (await createDatabase(postgres, row.postgres));
  if (database) {
    stops.push(() => ask(postgres.address, `drop database ${database.name} with (force)`));
    pids.push(postgres.pid);
  }
  const ports = await findFreePorts(4);
  if (row.restate) {
    const restate = await startRestate(folder, ports, row.restate);
    stops.push(() => restate.stop());
    pids.push(restate.pid);
  }
  const options = {
    folder,
    ledger: join(folder, 'ledger'),
    temporal: server?.address ?? '',
    database: database?.address,
    ports,
    settings: row.settings ?? {},
  };
  return {
    options,
    async bytes() {
      const relations = database ? await sizeOf(database.address) : 0;
      return relations + bytesBelow(folder);
    },
    serverMs: () => pids.reduce((sum, pid) => sum + processorMs(pid), 0),
    async close() {
      for (const stop of stops) await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function createDatabase({ address }: EmbeddedPostgres, commit: 'on' | 'off') {
  const name = `peers_${randomUUID().replaceAll('-', '')}`;
  await ask(address, `create database ${name}`);
  await ask(address, `alter database ${name} set synchronous_commit = ${commit}`);
  const url = new URL(address);
  url.pathname = `/${name}`;
  return { name, address: url.href };
}

async function sizeOf(address: string): Promise<number> {
  const [row] = await ask(
    address,
    `select coalesce(sum(pg_total_relation_size(c.oid)), 0)::float8 as bytes
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'm') and n.nspname not like 'pg\\_%' and n.nspname <> 'information_schema'`,
  );
  return Number(row?.bytes);
}

async function startRestate(folder: string, ports: readonly number[], fsync: 'fsync' | 'no fsync') {
  const [ingress, admin, node] = ports;
  const data = join(folder, 'restate');
  mkdirSync(data);
  const configuration = join(folder, 'restate.toml');
  writeFileSync(
    configuration,
    [
      `base-dir = "${data}"`,
      'node-name = "peers"',
      'listen-mode = "tcp"',
      'disable-telemetry = true',
      'log-filter = "error"',
      `bind-address = "127.0.0.1:${node}"`,
      `advertised-address = "http://127.0.0.1:${node}/"`,
      '[admin]',
      `bind-address = "127.0.0.1:${admin}"`,
      '[ingress]',
      `bind-address = "127.0.0.1:${ingress}"`,
      ...(fsync === 'fsync' ? [] : ['[log-server]', 'rocksdb-disable-wal-fsync = true']),
    ].join('\n'),
  );
  const program = join(
    import.meta.dirname,
    '..',
    '..',
    ...RESTATE,
    `restate-server-${process.platform}-${process.arch}`,
    'bin',
    'restate-server',
  );
  const log = join(folder, 'restate.log');
  const server = await spawnOwned(program, ['--config-file', configuration, '--no-logo'], log);
  await eventually('Restate answers', async () => {
    if (server.ended !== undefined)
      throw new Error(`Restate ended:\n${readFileSync(log, 'utf8').slice(-2000)}`);
    const answers = await Promise.all(
      [`http://127.0.0.1:${admin}/health`, `http://127.0.0.1:${ingress}/restate/health`].map((url) =>
        fetch(url).then(
          ({ ok }) => ok,
          () => false,
        ),
      ),
    );
    return answers.every(Boolean);
  });
  return server;
}

/** What the bench itself writes, and the log of each process, beside the data. */
const OTHERS = ['ledger', 'restate.toml', 'restate.log', 'temporal.log', 'worker.log'];

function bytesBelow(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !OTHERS.includes(entry.name))
    .reduce(
      (sum, { parentPath, name }) =>
        sum + (statSync(join(parentPath, name), { throwIfNoEntry: false })?.size ?? 0),
      0,
    );
}

/** Linux counts in hundredths of a second; elsewhere this is not known. Children count, those that have ended too. */
function processorMs(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const own = [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0) * 10;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
    return children.reduce((sum, child) => sum + processorMs(Number(child)), own);
  } catch {
    return 0;
  }
}
