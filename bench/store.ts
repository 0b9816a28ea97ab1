/**
 * The store's work for a step, without Temporal: the port's commands in the order in which the activities of a step
 * call them. `node_modules/.bin/node bench/store.ts [--json FILE] [--quick] [--only N]...`, N messages stored. Times
 * are per command: in total, inside the engine, and of that for the commit, which waits for the disk. Both engines:
 * SQLite in a file, and PostgreSQL, embedded or that of `EVERTHREAD_TEST_POSTGRES`; PostgreSQL also behind a slower
 * network, which counts the round trips to the server. A second table has the whole step by the length of its thread, a
 * third the cost of assembling a request from threads of several lengths (their JSON is beside the first one's).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LIMITS } from '../src/core/value/limit.ts';
import { openStore } from '../src/store/open-store.ts';
import type { ThreadStore } from '../src/store/store.ts';
import { measureAssembly } from './support/context-assembly.ts';
import { openPostgresBench } from './support/postgres-bench.ts';
import { type Line, median, readOptions, report } from './support/report.ts';
import { slowNetwork } from './support/slow-network.ts';
import { installMeter, type Meter } from './support/store-meter.ts';
import { openThread, type Run, runStep, type Timed } from './support/store-step.ts';

const { json, quick, only } = readOptions();
const meter = installMeter();
const WHOLE = 'whole step';
/**
 * Milliseconds of a round trip in a second run behind a slow network, whose difference gives the number of round trips.
 */
const COUNTING_MS = 21;
const sizes = only.length > 0 ? only.map(Number) : [10, 1000, 10_000, 100_000];
const [shortest = 10] = sizes;
/** Tokens for the messages of a request: a small window, and the default for models that name none. */
const WINDOWS = { window: 1000, 'no window named': LIMITS.unboundTokens } as const;
const folder = mkdtempSync(join(tmpdir(), 'everthread-bench-'));
const lines: Line[] = [];
const lengths: Line[] = [];
const assembly: Line[] = [];
try {
  await measureEngine('SQLite', 'sqlite:store.db');
  const postgres = await openPostgresBench();
  try {
    await measureFar(postgres.address, await measureEngine('PostgreSQL', postgres.address));
  } finally {
    await postgres.close();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
report('The store, for a step', lines, json);
report(
  'The store, for a step, by the length of its thread',
  lengths,
  json?.replace(/(\.json)?$/, '-length.json'),
);
report('Context assembly', assembly, json?.replace(/(\.json)?$/, '-context.json'));

interface Sample extends Meter {
  ms: number;
}

/** Returns the threads that it has created. */
async function measureEngine(name: string, address: string): Promise<Run[]> {
  const made: Run[] = [];
  const store = await openStore(address, folder);
  for (const messages of sizes) {
    const ref = await openThread(store, { address, folder, messages });
    made.push(ref);
    for (const [what, tokens] of Object.entries(WINDOWS)) {
      const rows = await measureSteps(store, ref, { tokens, steps: quick ? 30 : 200 });
      const place = `${messages} messages, ${what}`;
      if (messages === shortest && tokens === WINDOWS.window)
        lines.push(...rows.map((row) => toLine(name, row)));
      lengths.push({ ...toLine(name, rows.at(-1) as Row), what: `${name}: ${place}` });
    }
  }
  for (const length of quick ? [100, 1000] : [100, 1000, 10_000])
    assembly.push(...(await measureAssembly({ name, store, meter, length, quick })));
  await store.close();
  return made;
}

function toLine(engine: string, { name, sample }: Row): Line {
  const { commits, statements, rows, engineMs, commitMs } = sample;
  const took = `engine ${engineMs.toFixed(2)} ms, of it commit ${commitMs.toFixed(2)} ms`;
  const note = `${commits} commits, ${statements} statements, ${rows} rows; ${took}`;
  return { what: `${engine}: ${name}`, value: sample.ms, unit: 'ms', note };
}

/** Measures the round trips of a step: their time grows with that of the network, the rest does not. */
async function measureFar(address: string, threads: readonly Run[]): Promise<void> {
  const name = 'PostgreSQL, 1 ms away';
  for (const [index, ref] of threads.entries()) {
    const rows = await measureBehind(address, ref, 1);
    lengths.push({ ...toLine(name, rows.at(-1) as Row), what: `${name}: ${sizes[index]} messages, window` });
    if (index > 0) continue;
    const far = await measureBehind(address, ref, COUNTING_MS);
    for (const [place, row] of rows.entries()) {
      const trips = ((far[place] as Row).sample.ms - row.sample.ms) / (COUNTING_MS - 1);
      const note = `${trips.toFixed(1)} round trips, ${row.sample.statements} statements`;
      lines.push({ ...toLine(name, row), note });
    }
  }
}

async function measureBehind(address: string, ref: Run, roundTripMs: number): Promise<Row[]> {
  const network = await slowNetwork(address, roundTripMs);
  const store = await openStore(network.address, folder);
  try {
    const steps = roundTripMs === 1 && !quick ? 100 : 15;
    return await measureSteps(store, ref, { tokens: WINDOWS.window, steps });
  } finally {
    await store.close();
    await network.close();
  }
}

interface Row {
  readonly name: string;
  readonly sample: Sample;
}

interface Asked {
  /** Tokens for the messages of a request. */
  readonly tokens: number;
  readonly steps: number;
}

async function measureSteps(store: ThreadStore, run: Run, { tokens, steps }: Asked): Promise<Row[]> {
  const samples = new Map<string, Sample[]>();
  const timed: Timed = async (name, work) => {
    const before = { ...meter };
    const startedAt = performance.now();
    const result = await work();
    const ms = performance.now() - startedAt;
    const sample = { ms, ...difference(meter, before) };
    samples.set(name, [...(samples.get(name) ?? []), sample]);
    return result;
  };
  for (let step = 0; step < steps; step++) await runStep(store, run, tokens, timed);
  const rows = [...samples].map(([name, all]) => ({ name, sample: typical(all) }));
  const nothing = { ms: 0, statements: 0, commits: 0, engineMs: 0, commitMs: 0, rows: 0 };
  const sum = rows.reduce((total, { sample }) => add(total, sample), nothing);
  return [...rows, { name: WHOLE, sample: sum }];
}

function difference(now: Meter, before: Meter): Meter {
  return {
    statements: now.statements - before.statements,
    commits: now.commits - before.commits,
    engineMs: now.engineMs - before.engineMs,
    commitMs: now.commitMs - before.commitMs,
    rows: now.rows - before.rows,
  };
}

function typical(samples: readonly Sample[]): Sample {
  const of = (field: keyof Sample) => median(samples.map((sample) => sample[field]));
  return {
    ms: of('ms'),
    statements: of('statements'),
    commits: of('commits'),
    engineMs: of('engineMs'),
    commitMs: of('commitMs'),
    rows: of('rows'),
  };
}

function add(total: Sample, sample: Sample): Sample {
  return {
    ms: total.ms + sample.ms,
    statements: total.statements + sample.statements,
    commits: total.commits + sample.commits,
    engineMs: total.engineMs + sample.engineMs,
    commitMs: total.commitMs + sample.commitMs,
    rows: total.rows + sample.rows,
  };
}
