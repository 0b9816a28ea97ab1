/**
 * The same agent loop on other runtimes: one scripted model behind each one's own port, one tool that appends a line and
 * waits for the disk. `node_modules/.bin/node bench/peers.ts [--quick] [--only word]... [--json FILE] [--write]`
 * Installs the peers on its first run (bench/peers). `--only` takes words of a row's name; `--write` puts the tables into
 * docs/benchmarks.md; `--rounds N` and `--cap SECONDS`, after which a measure is cut, make it shorter on a busy machine.
 */
import { writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { effect, openLedger } from './support/peers/double.ts';
import { type Ground, openGround, openShared } from './support/peers/ground.ts';
import { installPeers, readVersion } from './support/peers/install.ts';
import {
  FULL,
  measureCancel,
  measureCrowd,
  measureKills,
  measureLong,
  measureShort,
  QUICK,
} from './support/peers/measure.ts';
import { ROWS } from './support/peers/rows.ts';
import { type Made, type Measured, toMarkdown, writePage } from './support/peers/table.ts';

const { values } = parseArgs({
  options: {
    json: { type: 'string' },
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    rounds: { type: 'string' },
    cap: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
const { quick, only } = values;
const whole = quick ? QUICK : FULL;
const plan = values.cap ? { ...whole, capMs: Number(values.cap) * 1000 } : whole;
const rounds = Number(values.rounds ?? (quick ? 1 : 3));
installPeers();

const begun = performance.now();
const load = loadavg()[0] ?? 0;
const words = only.map((word) => word.toLowerCase());
const all: Measured[] = ROWS.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)))
  // A quick run shows each runtime once.
  .filter(({ module }, at, rows) => !quick || rows.findIndex((row) => row.module === module) === at)
  .map((row) => ({ row, short: [] }));
const shared = await openShared();
const toolMs = await timeTool(shared.folder);
// The other servers and the workers end with this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void shared.close().finally(() => process.exit(130)));
try {
  for (let round = 0; round < rounds; round++) {
    // The rows alternate, and every other round goes backwards, so that other load of the machine meets all alike.
    for (const measured of round % 2 === 0 ? all : all.toReversed()) {
      const { row } = measured;
      await measure(measured, async (ground) => {
        measured.short.push(await measureShort(ground, row, plan));
      });
      if (round > 0 || !row.whole || measured.error !== undefined) continue;
      await measure(measured, async (ground) => {
        measured.long = await measureLong(ground, row, plan);
      });
      await measure(measured, async (ground) => {
        measured.crowd = await measureCrowd(ground, row, plan);
      });
      await measure(measured, async (ground) => {
        measured.kills = await measureKills(ground, row, plan);
      });
      await measure(measured, async (ground) => {
        measured.cancel = await measureCancel(ground, row);
      });
    }
  }
} finally {
  await shared.close();
}

const markdown = toMarkdown(all, made());
console.log(markdown);
if (values.write) writePage(markdown);

function made(): Made {
  return {
    at: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} cores (${cpus()[0]?.model}), ${process.platform}, Node ${process.versions.node}`,
    rounds,
    plan,
    toolMs,
    load: [load, loadavg()[0] ?? 0],
    minutes: (performance.now() - begun) / 60_000,
    versions: Object.fromEntries(
      [...new Set(all.flatMap(({ row }) => row.packages))].map((name) => [name, readVersion(name)]),
    ),
  };
}

/** Milliseconds of the tool without any runtime: it is in each step of each row. */
async function timeTool(folder: string): Promise<number> {
  await openLedger(join(folder, 'alone'));
  const since = performance.now();
  for (let n = 0; n < 100; n++) await effect({ thread: 'alone', n });
  return (performance.now() - since) / 100;
}

/** On its own ground, without what other measures have left. A row that fails says so in the table. */
async function measure(measured: Measured, work: (ground: Ground) => Promise<void>): Promise<void> {
  const since = performance.now();
  let ground: Ground | undefined;
  try {
    ground = await openGround(shared, measured.row);
    await work(ground);
  } catch (error) {
    measured.error = (error as Error).message;
    console.error(`${measured.row.name}: ${(error as Error).stack}`);
  } finally {
    await ground?.close();
  }
  // After each, so that a run that is interrupted leaves what it has.
  if (values.json) writeFileSync(values.json, `${JSON.stringify({ made: made(), rows: all }, null, 2)}\n`);
  console.error(`${measured.row.name}: ${((performance.now() - since) / 1000).toFixed(0)} s`);
}
