/** Group 13 of the adversarial tests: code that resists its end, in loops, in built-ins and while it waits. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createSandbox } from '../../src/sandbox/index.ts';
import { eventually } from '../support/eventually.ts';
import { rowsOf } from '../support/long-form.ts';
import { cpuMs, isAtRest } from '../support/process-tree.ts';
import { sandboxChildren } from '../support/sandbox-children.ts';
import { createFigures } from './figures.ts';
import { terminateNow } from './terminate-now.ts';

/** The spec's own bound (§13.4) in milliseconds of work; the run settles without waiting for anything. */
const TERMINATE_MS = 50;
/** Milliseconds of CPU time that the code has used when it is terminated. */
const BURNT_MS = 60;

/** Children of other sandboxes in this process. */
const strangers = sandboxChildren();
const sandbox = createSandbox({ size: 1 });
const scope = sandbox.scope();
const figures = createFigures('termination row', 'ms', 'child at rest after ms');

beforeAll(async () => {
  await scope.runCode('export default 0');
});

afterAll(async () => {
  await sandbox.close();
  figures.print();
});

/** Each calls `begin()` when it is set up; from then on it works without end, or for very long. */
const BUSY: Readonly<Record<string, string>> = {
  'an empty loop': 'begin(); for (;;);',
  'a loop in try and finally':
    'begin(); for (;;) { try { throw 1 } catch { continue } finally { continue } }',
  'deep calls': 'const f = (n) => n < 2 ? n : f(n - 1) + f(n - 2); begin(); f(80)',
  'a regex that backtracks': 'begin(); /^(a+)+$/.test("a".repeat(60) + "!")',
  'a microtask loop': 'begin(); for (;;) await null',
  'promises that call each other':
    'begin(); const f = () => Promise.resolve().then(f); f(); await new Promise(() => {})',
  'a sort without comparator':
    'const a = Array.from({ length: 3e6 }, (_, i) => (i * 7919) % 3e6); begin(); for (;;) a.sort().reverse()',
  'a sort with comparator':
    'const a = Array.from({ length: 1e6 }, (_, i) => (i * 7919) % 1e6); begin(); for (;;) a.sort((x, y) => y - x).reverse()',
  'JSON in a loop':
    'const o = { a: Array(1000).fill({ b: 1 }) }; begin(); for (;;) JSON.parse(JSON.stringify(o))',
  'dates parsed': 'begin(); for (;;) Date.parse("2026-11-20T10:00:00Z")',
  'fill and map': 'begin(); for (;;) new Array(1e6).fill(0).map((x) => x + 1)',
  'a huge BigInt as text': 'begin(); for (;;) (3n ** 2000000n).toString()',
  'indexOf in a huge array': 'const a = new Array(2e7).fill(1); begin(); for (;;) a.indexOf(2)',
  'a BigInt squared':
    'let a = 3n ** 100000n; begin(); for (;;) a = a.toString().length > 1e7 ? 3n ** 100000n : a * a',
  'split, reverse and join': 'const t = "xy".repeat(1e6); begin(); for (;;) t.split("").reverse().join("")',
  normalize: 'const t = "\\u0344\\u1e69".repeat(1e6); begin(); for (;;) t.normalize("NFD")',
  'a typed array filled': 'const a = new Float64Array(1e7); begin(); for (let i = 0; ; i++) a.fill(i)',
  'an array pushed to and emptied':
    'let a = []; begin(); for (let i = 0; ; i++) { a.push(i); if (a.length > 1e5) a = []; }',
  'getters of the result': 'begin(); export default { get a() { for (;;); } }',
  'a Proxy as the result': 'begin(); export default new Proxy({}, { ownKeys() { for (;;); } })',
  'a thenable that calls itself': 'begin(); const t = { then(f) { f(t) } }; export default t',
  'a flood of logs': 'begin(); for (;;) console.log("x".repeat(1000))',
  'a finalizer of its own':
    'begin(); const g = (function* () { try { yield 1 } finally { for (;;); } })(); for (const _ of g) break',
};

/** Each waits without using the CPU. */
const WAITING: Readonly<Record<string, string>> = {
  'a promise that never settles': 'begin(); await new Promise(() => {})',
  'a host function that never answers': 'begin(); await never()',
  'a thousand host functions that never answer':
    'begin(); await Promise.all(Array.from({ length: 1500 }, () => never()))',
  'a top-level await in a module': 'begin(); await import("./stuck")',
  'a generator asked twice':
    'begin(); const g = (async function* () { yield never() })(); void g.next(); await g.return()',
};

async function endsAtOnce(name: string, source: string, busy: boolean): Promise<void> {
  // One of these children takes the run; a spare that starts beside it works as well, and is not the one to measure.
  const rested = await eventually('the children are at rest', () => {
    const own = sandboxChildren().filter((pid) => !strangers.includes(pid));
    return own.length > 0 && own.every(isAtRest) && own;
  });
  let begun = false;
  const begin = () => {
    begun = true;
  };
  const run = scope.runCode(source, {
    globals: { begin, never: () => new Promise(() => undefined) },
    modules: { './stuck': 'await new Promise(() => {})' },
    memoryLimitBytes: 256 * 1024 * 1024,
  });
  await eventually(`${name} begins`, () => begun);
  const burnt = new Map(rested.map((pid) => [pid, cpuMs(pid) ?? 0]));
  const works = (pid: number) => (cpuMs(pid) ?? 0) - (burnt.get(pid) ?? 0) > BURNT_MS;
  const worker = busy ? await eventually(`${name} works`, () => rested.find(works)) : undefined;
  expect(run.running).toBe(true);

  const told = performance.now();
  const { result, workMs, wallMs } = await terminateNow(
    run,
    `enough of ${name}`,
    'the second call does nothing',
  );
  if (worker) await eventually(`${name} gives its processor back`, () => isAtRest(worker));
  figures.add(name, wallMs, worker ? performance.now() - told : '');

  expect(result).toMatchObject({ status: 'terminated' });
  expect(await run).toMatchObject({ error: { name: 'Terminated', message: `enough of ${name}` } });
  expect(workMs).toBeLessThan(TERMINATE_MS);
  expect((await scope.runCode('export default "next"')).result).toBe('next');
}

const names = (table: readonly [string, string][]) => table.map(([name, source]) => ({ name, source }));
/** Rows for the long form only: loops of JavaScript, and built-ins on large data, as in other rows. */
const MORE_OF_A_KIND = [
  'deep calls',
  'a sort without comparator',
  'dates parsed',
  'fill and map',
  'indexOf in a huge array',
  'a BigInt squared',
  'split, reverse and join',
  'an array pushed to and emptied',
  'promises that call each other',
  'JSON in a loop',
  'a typed array filled',
];

describe('a run being terminated', () => {
  it.each(names(rowsOf(BUSY, ...MORE_OF_A_KIND)))(
    'adversarial 13: $name ends within 50 ms, and leaves no busy child',
    ({ name, source }) => endsAtOnce(name, source, true),
  );

  it.each(names(rowsOf(WAITING)))('adversarial 13: $name ends within 50 ms', ({ name, source }) =>
    endsAtOnce(name, source, false),
  );

  it('adversarial 13: a run terminated without a reason has a default one, and an ended run is unchanged', async () => {
    const run = scope.runCode('for (;;);');
    run.terminate();
    expect(await run).toMatchObject({ status: 'terminated', error: { message: 'The run was terminated.' } });
    const done = scope.runCode('export default 1');
    expect((await done).status).toBe('success');
    done.terminate('too late');
    expect(await done).toMatchObject({ status: 'success', result: 1 });
  });
});
