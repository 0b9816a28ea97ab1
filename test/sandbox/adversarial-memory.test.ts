/** Group 12 of the adversarial tests: code that exceeds its memory limit, in every way that once succeeded. */
import { afterAll, describe, expect, it } from '@jest/globals';
import type { CodeExecutionResult } from '../../src/core/author/code-execution.ts';
import { createSandbox } from '../../src/sandbox/index.ts';
import { isLong, rowsOf } from '../support/long-form.ts';
import { watchPeak } from '../support/sandbox-children.ts';
import { createFigures } from './figures.ts';

const MIB = 1024 * 1024;
/** Maximum MB of a child: its own memory plus one large doubling before the watchdog acts. */
const PEAK_MB = 640;

const sandbox = createSandbox({ size: 1 });
const scope = sandbox.scope();
const figures = createFigures('memory row', 'MiB', 'status', 'ms', 'peak MB');
const flood = (_text: string) => undefined;

afterAll(async () => {
  await sandbox.close();
  figures.print();
});

/** Runs that must end as `memory`. */
const OVERRUNS: Readonly<Record<string, string>> = {
  'arrays of numbers': 'const a = []; for (;;) a.push(new Array(1000).fill(1))',
  'arrays, errors swallowed':
    'const a = []; for (;;) { try { for (;;) a.push(new Array(1000).fill(1)) } catch {} }',
  'small objects': 'const a = []; for (let i = 0; ; i++) a.push({ x: i, y: i })',
  closures: 'const a = []; for (let i = 0; ; i++) a.push(() => i)',
  'promises that wait': 'const a = []; for (;;) a.push(new Promise(() => {}).then(() => a))',
  'split texts': 'const a = []; for (let i = 0; ; i++) a.push(("x" + i + ",").repeat(100).split(","))',
  'a microtask loop': 'const a = []; for (;;) { a.push({ a: [1, 2, 3] }); await null; }',
  'doubles in one array': 'const a = []; for (let i = 0; ; i++) a.push(i + 0.5)',
  'parsed JSON':
    'const t = JSON.stringify(Array(1000).fill({ a: 1 })); const a = []; for (;;) a.push(JSON.parse(t))',
  'matches of a regex': 'const t = "ab".repeat(10000); const a = []; for (;;) a.push(t.match(/a/g))',
  'a Map of integers': 'const m = new Map(); for (let i = 0; ; i++) m.set(i, i)',
  'a Map of objects': 'const m = new Map(); for (let i = 0; ; i++) m.set(i, { i })',
  'a Set of texts': 'const s = new Set(); for (let i = 0; ; i++) s.add("k" + i)',
  'keys of one object': 'const o = {}; for (let i = 0; ; i++) o["k" + i] = i',
  'fill and map of 1e8': 'export default new Array(1e8).fill(0).map((_, i) => ({ i })).length',
  'fill of the longest array': 'const a = []; a.length = 2 ** 32 - 1; a.fill(1)',
  'ArrayBuffers in a loop': 'const a = []; for (;;) a.push(new ArrayBuffer(1 << 20))',
  'an ArrayBuffer of 1 GiB': 'export default new ArrayBuffer(1 << 30).byteLength',
  'long texts': 'const a = []; for (let i = 0; ; i++) a.push(("x" + i).repeat(1e6))',
  'calls that pile up': 'for (;;) void flood("x".repeat(100_000))',
};

/** Runs that the engine or the transfer refuses; an end as `memory` is accepted too. */
const REFUSED: Readonly<Record<string, string>> = {
  'a text that doubles': 'let t = "x"; for (;;) t += t',
  'recursion without end': 'const f = (n) => 1 + f(n + 1); export default f(0)',
  'a text of 512 MB as the result': 'export default "x".repeat(2 ** 29 - 24)',
};

const LIMITS = isLong ? [32, 64] : [32];
const rows = (table: readonly [string, string][]) =>
  table.flatMap(([name, source]) => LIMITS.map((limit) => ({ name, limit, source })));
/** Rows for the long form only: the heap fills with many small things, as in other rows. */
const MORE_OF_A_KIND = [
  'closures',
  'small objects',
  'doubles in one array',
  'a Map of integers',
  'a Set of texts',
  'parsed JSON',
  'matches of a regex',
];

async function measured(name: string, source: string, limit: number): Promise<CodeExecutionResult> {
  const peak = watchPeak();
  const result = await scope.runCode(source, { memoryLimitBytes: limit * MIB, globals: { flood } });
  const highest = peak.stop();
  figures.add(name, limit, result.status, result.durationMs, highest);
  expect(highest).toBeLessThan(PEAK_MB);
  return result;
}

const next = async () => (await scope.runCode('export default 6 * 7')).result;

describe('a run above its memory limit', () => {
  it.each(rows(rowsOf(OVERRUNS, ...MORE_OF_A_KIND)))(
    'adversarial 12: $name over $limit MiB ends as memory',
    async (row) => {
      const { status, error } = await measured(row.name, row.source, row.limit);
      expect(status).toBe('memory');
      expect(error?.message).toContain(`${row.limit} MiB`);
      expect(await next()).toBe(42);
    },
  );

  it.each(rows(rowsOf(REFUSED)))('adversarial 12: $name is refused at $limit MiB', async (row) => {
    const { status, error } = await measured(row.name, row.source, row.limit);
    expect(['error', 'memory']).toContain(status);
    expect(error?.message.length).toBeLessThan(500);
    expect(await next()).toBe(42);
  });

  it('adversarial 12: a Float16Array as the result is returned, and ends no child', async () => {
    const { status, result } = await scope.runCode('export default new Float16Array([1.5, 2])');
    expect(status).toBe('success');
    expect(Object.prototype.toString.call(result)).toBe('[object Float16Array]');
  });
});
