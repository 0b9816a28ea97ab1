/**
 * What it costs writers on PostgreSQL to notify a listener of each transaction: within it, after it, or once for all
 * transactions of some milliseconds.
 * `node_modules/.bin/node bench/notify.ts [--json FILE] [--quick]`
 * Each writer changes its own row. Why Everthread does not notify:
 * docs/decisions/0017-the-look-at-growing-logs-stays.md.
 */
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { openPostgresBench } from './support/postgres-bench.ts';
import { type Line, readOptions, report } from './support/report.ts';

const WAYS = ['none', 'within', 'behind', 'gathered', 'none again'] as const;
const GATHER_MS = 5;

const { json, quick } = readOptions();
const measureMs = quick ? 300 : 3000;
const bench = await openPostgresBench();
const address = new URL(bench.address);
address.searchParams.delete('schema');
const open: pg.Client[] = [];

async function connect(setting?: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: address.href });
  open.push(client);
  await client.connect();
  if (setting) await client.query(setting);
  return client;
}

const admin = await connect('create table if not exists bench_notify (id int primary key, n bigint)');
await admin.query(
  'insert into bench_notify select i, 0 from generate_series(1, 16) i on conflict do nothing',
);
await connect('listen bench_grown');
const lines: Line[] = [];
for (const relaxed of [false, true])
  for (const writers of [1, 16])
    for (const way of WAYS) {
      const rate = await measure(way, writers, relaxed);
      const disk = relaxed ? 'the disk is not waited for' : 'the disk is waited for';
      lines.push({ what: `${way}, ${writers} writing, ${disk}`, value: rate, unit: 'transactions/s' });
    }
await admin.query('drop table bench_notify');
for (const client of open) await client.end();
await bench.close();
report('notify', lines, json);

async function measure(way: (typeof WAYS)[number], writers: number, relaxed: boolean): Promise<number> {
  const setting = relaxed ? 'set synchronous_commit = off' : undefined;
  const teller = await connect('set synchronous_commit = off');
  const clients = await Promise.all(Array.from({ length: writers }, () => connect(setting)));
  let isOver = false;
  let isDue = false;
  let done = 0;
  const gather = async () => {
    while (!isOver) {
      await delay(GATHER_MS);
      if (isDue) await notify(teller);
      isDue = false;
    }
  };
  const write = async (client: pg.Client, index: number) => {
    while (!isOver) {
      await client.query('begin');
      await client.query('update bench_notify set n = n + 1 where id = $1', [index + 1]);
      if (way === 'within') await notify(client);
      await client.query('commit');
      if (way === 'behind') await notify(client);
      isDue = true;
      done += 1;
    }
  };
  const working = [...clients.map(write), ...(way === 'gathered' ? [gather()] : [])];
  const began = performance.now();
  await delay(measureMs);
  const rate = (done / (performance.now() - began)) * 1000;
  isOver = true;
  await Promise.all(working);
  return rate;
}

async function notify(client: pg.Client): Promise<void> {
  await client.query("select pg_notify('bench_grown', '')");
}
