/**
 * Speed: cold calls, concurrent calls, calls of the host, values that cross, processor time. The engines alternate in
 * changing order within one run, so that other load of the machine affects all alike.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { median, quantile } from '../support/report.ts';
import type { Call, Engine, EngineName } from './engine.ts';
import type { Row } from './table.ts';

export interface Plan {
  readonly engines: readonly Engine[];
  readonly quick: boolean;
}

type Samples = Record<EngineName, number[]>;

/** Calls that failed unexpectedly. They are repeated, and reported. */
export const failures: string[] = [];

/** The cold call: empty code on a warm engine. */
const COLD: Call = { source: 'export default 42' };
const COLD_GOAL_MS = 3;

export async function measureCold({ engines, quick }: Plan): Promise<Row[]> {
  const rounds = quick ? 2 : 10;
  const rows: Row[] = [];
  for (const pause of [0, 20]) {
    const samples = await byTurns(engines, rounds, async (engine) => {
      const times: number[] = [];
      // A Worker is slow, so fewer samples are taken.
      for (let i = 0; i < (engine.name === 'worker' ? 5 : 20); i++) {
        if (pause > 0) await delay(pause);
        times.push(await timed(engine, COLD, 42));
      }
      return times;
    });
    const when = pause > 0 ? `a call each ${pause} ms` : 'back to back';
    const count = `n ${samples.everthread.length}, worker ${samples.worker.length}`;
    rows.push(
      {
        what: `cold call, ${when}, p50`,
        unit: 'ms',
        values: each(samples, median),
        atMost: COLD_GOAL_MS,
        note: count,
      },
      {
        what: `cold call, ${when}, p95`,
        unit: 'ms',
        values: each(samples, (all) => quantile(all, 0.95)),
        note: count,
      },
    );
  }
  return rows;
}

const CROWDS = [1, 4, 16];

export async function measureThroughput({ engines, quick }: Plan): Promise<Row[]> {
  const ms = quick ? 100 : 300;
  const rows: Row[] = [];
  for (const callers of CROWDS) {
    const samples = await byTurns(engines, 2, async (engine) => {
      await engine.run(COLD);
      return [await rate(engine, callers, ms)];
    });
    const what = `cold calls per second, ${callers} caller${callers > 1 ? 's' : ''}`;
    rows.push({ what, unit: '/s', values: each(samples, mean), note: `mean of 2 times ${ms} ms` });
  }
  return rows;
}

async function rate(engine: Engine, callers: number, ms: number): Promise<number> {
  const startedAt = performance.now();
  let calls = 0;
  const caller = async () => {
    while (performance.now() - startedAt < ms) {
      await timed(engine, COLD, 42);
      calls += 1;
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return (calls * 1000) / (performance.now() - startedAt);
}

const CALLS = 1000;
const BRIDGED = {
  'in sequence':
    'export default async function (n) { let sum = 0; for (let i = 0; i < n; i++) sum += await same(1); return sum; }',
  'in parallel':
    'export default async function (n) { let sum = 0; for (const one of await Promise.all(Array.from({ length: n }, () => same(1)))) sum += one; return sum; }',
};

/** Measures calls of the host, in µs each: the time of a run without calls is subtracted. */
export async function measureBridge({ engines, quick }: Plan): Promise<Row[]> {
  const rows: Row[] = [];
  const functions = { same: async (value: unknown) => value };
  for (const [how, source] of Object.entries(BRIDGED)) {
    const samples = await byTurns(engines, quick ? 2 : 7, async (engine) => {
      const without = await timed(engine, { source, functions, args: [0] }, 0);
      const whole = await timed(engine, { source, functions, args: [CALLS] }, CALLS);
      return [((whole - without) * 1000) / CALLS];
    });
    const note = `median of ${samples.everthread.length} runs of ${CALLS}`;
    rows.push({ what: `call of a host function, ${how}`, unit: 'us', values: each(samples, median), note });
  }
  return rows;
}

const MIB = 1024 * 1024;

/** The time of the whole run. */
export async function measureEcho({ engines, quick }: Plan): Promise<Row[]> {
  const tree = Array.from({ length: 9000 }, (_, id) => ({
    id,
    name: `entry number ${id}`,
    tags: ['first', 'second', 'third'],
    nested: { price: id / 7, open: id % 2 === 0 },
  }));
  const size = (JSON.stringify(tree).length / MIB).toFixed(2);
  const values = {
    '1 MiB string': 'x'.repeat(MIB),
    '1 MiB Uint8Array': new Uint8Array(MIB).fill(7),
    [`object tree, ${size} MiB of JSON`]: tree,
  };
  const rows: Row[] = [];
  for (const [what, value] of Object.entries(values)) {
    const call = { source: 'export default (value) => value', args: [value] };
    const samples = await byTurns(engines, quick ? 2 : 9, async (engine) => {
      const { result, ms } = await run(engine, call);
      if (sizeOf(result) !== sizeOf(value)) throw new Error(`${engine.name} lost a part of: ${what}.`);
      return [ms];
    });
    const note = `median of ${samples.everthread.length}; vm copies nothing`;
    rows.push({ what: `there and back, ${what}`, unit: 'ms', values: each(samples, median), note });
  }
  return rows;
}

function sizeOf(value: unknown): number {
  return ArrayBuffer.isView(value) ? value.byteLength : JSON.stringify(value).length;
}

const WORK = {
  'fib(27)': 'const fib = (n) => (n < 2 ? n : fib(n - 1) + fib(n - 2)); export default () => fib(27)',
  'JSON and arrays': `
    export default () => {
      let total = 0;
      for (let round = 0; round < 20; round++) {
        const rows = Array.from({ length: 2000 }, (_, i) => ({ id: i, name: 'row ' + i, value: (i * 7919) % 1009 }));
        const copy = JSON.parse(JSON.stringify(rows));
        copy.sort((a, b) => a.value - b.value || a.id - b.id);
        total += copy.filter(({ id }) => id % 3 === 0).map(({ value }) => value).reduce((sum, each) => sum + each, 0);
      }
      return total;
    }`,
};

/** The time of the whole run. */
export async function measureCpu({ engines, quick }: Plan): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [what, source] of Object.entries(WORK)) {
    const samples = await byTurns(engines, quick ? 2 : 7, async (engine) => [
      await timed(engine, { source }),
    ]);
    const note = `median of ${samples.everthread.length}`;
    rows.push({ what: `processor, ${what}`, unit: 'ms', values: each(samples, median), note });
  }
  return rows;
}

/** Milliseconds between turns, so that no engine's clean-up falls on the next: ours cleans up after the answer. */
const REST_MS = 30;

/** Samples the engines in turn. The first round warms up and is discarded. */
async function byTurns(
  engines: readonly Engine[],
  rounds: number,
  sample: (engine: Engine) => Promise<number[]>,
): Promise<Samples> {
  const samples: Samples = { everthread: [], quickjs: [], vm: [], worker: [] };
  for (let round = -1; round < rounds; round++) {
    for (let turn = 0; turn < engines.length; turn++) {
      const engine = engines[(turn + round + engines.length) % engines.length] as Engine;
      await delay(REST_MS);
      const values = await sample(engine);
      if (round >= 0) samples[engine.name].push(...values);
    }
  }
  return samples;
}

async function timed(engine: Engine, call: Call, expected?: unknown): Promise<number> {
  const { result, ms } = await run(engine, call);
  if (expected !== undefined && result !== expected) throw new Error(`${engine.name} answered ${result}.`);
  return ms;
}

async function run(engine: Engine, call: Call): Promise<{ result: unknown; ms: number }> {
  for (let attempt = 1; ; attempt++) {
    const startedAt = performance.now();
    const { status, result, message } = await engine.run(call);
    const ms = performance.now() - startedAt;
    if (status === 'success') return { result, ms };
    failures.push(`${engine.name}: ${status}, ${message}`);
    if (attempt === 3) throw new Error(failures.at(-1));
  }
}

function each(samples: Samples, figure: (values: readonly number[]) => number): Record<EngineName, number> {
  const { everthread, quickjs, vm, worker } = samples;
  return {
    everthread: figure(everthread),
    quickjs: figure(quickjs),
    vm: figure(vm),
    worker: figure(worker),
  };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
