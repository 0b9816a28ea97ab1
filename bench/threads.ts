/**
 * Many idle threads: what each costs the worker process that has it cached, and what the next turn costs of one that is
 * no longer cached, by the length of its history.
 * `node_modules/.bin/node bench/threads.ts [--json FILE] [--quick] [--only memory|replay]...`
 * The figures of memory include everything: V8's heaps with their garbage, the SDK's core, and the client, which is in
 * the same process.
 */
import { type Line, median, readOptions, report, spread } from './support/report.ts';
import { openRig, quietRuntime, type Rig } from './support/rig.ts';

/** Size of a cache that holds more threads than any part below starts. */
const ALL = 20_000;
/** Number of threads started at once. */
const CROWD = 50;
const KIB = 1024;

const { json, quick, only } = readOptions();
const asked = (part: string) => only.length === 0 || only.includes(part);
quietRuntime();
const lines: Line[] = [];
if (asked('memory')) lines.push(...(await measureMemory(quick ? [100, 300] : [1000, 5000])));
if (asked('replay')) lines.push(...(await measureReplay(quick ? 10 : 50)));
report('Many threads', lines, json);

async function measureMemory(counts: readonly number[]): Promise<Line[]> {
  const rig = await openRig('file', { cachedThreads: ALL });
  try {
    // Code that the first threads load and compile does not count for any thread.
    await startThreads(rig, CROWD);
    const empty = await residentBytes();
    const lines: Line[] = [];
    let started = 0;
    for (const count of counts) {
      await startThreads(rig, count - started);
      started = count;
      const grown = (await residentBytes()) - empty;
      const note = `${Math.round(grown / KIB / KIB)} MiB more than with ${CROWD}`;
      lines.push({
        what: `memory of an idle thread, ${count} cached`,
        value: Math.round(grown / count / KIB),
        unit: 'KiB',
        note,
      });
    }
    return lines;
  } finally {
    await rig.close();
  }
}

async function startThreads(rig: Rig, count: number): Promise<void> {
  for (let left = count; left > 0; left -= CROWD) {
    await Promise.all(Array.from({ length: Math.min(left, CROWD) }, () => rig.turn('once', 1)));
  }
}

/** Returns the least of several readings, between which garbage is collected. */
async function residentBytes(): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let reading = 0; reading < 5; reading++) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 1000));
    least = Math.min(least, process.memoryUsage.rss());
  }
  return least;
}

/** Takes turns in an order that has evicted each thread from the smaller cache before its next turn. */
async function measureReplay(threads: number): Promise<Line[]> {
  const lines: Line[] = [];
  for (const [what, cachedThreads] of [
    ['cached', ALL],
    ['replayed', 2],
  ] as const) {
    const rig = await openRig('memory', { cachedThreads });
    try {
      for (const steps of [1, 40]) {
        const ids = await Promise.all(Array.from({ length: threads }, () => rig.turn('once', steps)));
        const times: number[] = [];
        for (const id of ids) {
          const startedAt = performance.now();
          await rig.nextTurn(id, 0);
          times.push(performance.now() - startedAt);
        }
        const name = `an answer after a turn of ${steps} step${steps === 1 ? '' : 's'}, thread ${what}`;
        lines.push({ what: name, value: median(times), unit: 'ms', note: spread(times) });
      }
    } finally {
      await rig.close();
    }
  }
  return lines;
}
