/**
 * Groups 14, 17 and 18 of the adversarial tests: the worker stays responsive, and neither process outlives the other's
 * death.
 */
import { spawn } from 'node:child_process';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { CodeExecution } from '../../src/core/author/code-execution.ts';
import { createSandbox, SANDBOX_LIMITS } from '../../src/sandbox/index.ts';
import { eventually } from '../support/eventually.ts';
import { keptMiB } from '../support/kept-memory.ts';
import { isLong, rowsOf } from '../support/long-form.ts';
import { watchTurns } from '../support/own-work.ts';
import { isAlive } from '../support/process-tree.ts';
import { sandboxChildren } from '../support/sandbox-children.ts';
import { createFigures } from './figures.ts';
import { terminateNow } from './terminate-now.ts';

/**
 * Milliseconds of work in one turn. §D14 says 50, but a slow machine takes longer. A blocked worker would work as long
 * as the flood lasts.
 */
const LONGEST_WORK_MS = 100;
const FLOOD_MS = isLong ? 500 : 200;
/** A run may report and log 17 MiB, and as much may be in transit; a character of text may take two bytes. */
const KEPT_MIB = 128;
/**
 * Limit including garbage, since texts of a megabyte arrive faster than the collector runs. All data of the flood would
 * be far more.
 */
const GROWTH_MIB = 512;

const sandbox = createSandbox({ size: 2 });
const scope = sandbox.scope();
const figures = createFigures(
  'flood row',
  'status',
  'said',
  'lag p99 ms',
  'lag max ms',
  'work max ms',
  'host rss growth MiB',
  'kept MiB',
);
afterAll(async () => {
  await sandbox.close();
  figures.print();
});

/**
 * Lets the code flood for a while after it has called `begin`, then ends it; the effect on this process goes into the
 * table.
 */
async function flooded(
  name: string,
  start: (begin: () => void) => CodeExecution,
  said: () => number,
): Promise<string> {
  await scope.runCode('export default 1');
  const before = process.memoryUsage.rss();
  const keptBefore = keptMiB();
  const lag = monitorEventLoopDelay({ resolution: 5 });
  lag.enable();
  const turns = watchTurns();
  let begun = Number.POSITIVE_INFINITY;
  const run = start(() => {
    begun = performance.now();
  });
  await eventually(`${name} has flooded`, () => !run.running || performance.now() - begun > FLOOD_MS);
  const { result, workMs } = await terminateNow(run, 'enough');
  lag.disable();
  const longest = turns.stop();
  const growth = (process.memoryUsage.rss() - before) / 1024 / 1024;
  const { status } = await run;
  const kept = keptMiB() - keptBefore;
  figures.add(name, status, said(), lag.percentile(99) / 1e6, lag.max / 1e6, longest, growth, kept);
  expect(result).toMatchObject({ status });
  expect(workMs).toBeLessThan(50);
  expect(longest).toBeLessThan(LONGEST_WORK_MS);
  expect(kept).toBeLessThan(KEPT_MIB);
  expect(growth).toBeLessThan(GROWTH_MIB);
  return status;
}

const REPORTS: Readonly<Record<string, string>> = {
  'small reports': 'for (;;) report(1)',
  'reports of 1000 characters': 'for (;;) report("x".repeat(1000))',
  'reports of a megabyte': 'for (;;) report("x".repeat(1e6))',
  'reports of functions': 'for (;;) report(() => 1)',
};
const LOGS_AND_CALLS: Readonly<Record<string, string>> = {
  'small logs': 'for (;;) console.log(1)',
  'logs of a megabyte': 'for (;;) console.log("x".repeat(1e6))',
  'logs from microtasks':
    'const f = () => { console.log("x".repeat(1000)); return Promise.resolve().then(f) }; await f()',
  'calls, one after the other': 'for (;;) await host("x".repeat(1000))',
  'calls, each of a megabyte': 'for (;;) await host("x".repeat(1e6))',
  'calls, a thousand at once':
    'for (;;) await Promise.all(Array.from({ length: 1000 }, () => host("x".repeat(1000))))',
  'calls that give functions': 'for (;;) await host(() => 1).catch(() => {})',
  'calls that fail': 'for (;;) await host(Symbol()).catch(() => {})',
  'import() of what is not there': 'for (;;) await import("./x" + Math.random()).catch(() => {})',
};
/** Rows for the long form only: sizes between the smallest and the largest; one of two kinds that are refused. */
const REPORTS_OF_A_KIND = ['reports of 1000 characters'];
const CALLS_OF_A_KIND = ['logs from microtasks', 'calls, one after the other', 'calls that fail'];

describe('a flood', () => {
  it.each(rowsOf(REPORTS, ...REPORTS_OF_A_KIND))(
    'adversarial 14: of %s keeps the worker responsive, and ends at the limit for reports',
    async (name, source) => {
      let count = 0;
      const report = () => void count++;
      const status = await flooded(
        name,
        (begin) => scope.runCode(`begin(); ${source}`, { report, globals: { begin } }),
        () => count,
      );
      expect(status).not.toBe('success');
      expect(count).toBeLessThanOrEqual(SANDBOX_LIMITS.reportEntries);
    },
  );

  it.each(rowsOf(LOGS_AND_CALLS, ...CALLS_OF_A_KIND))(
    'adversarial 14: of %s keeps the worker responsive, and can be terminated',
    async (name, source) => {
      let count = 0;
      let most = 0;
      let underWay = 0;
      const host = async () => {
        count += 1;
        underWay += 1;
        most = Math.max(most, underWay);
        await null;
        underWay -= 1;
      };
      const status = await flooded(
        name,
        (begin) => scope.runCode(`begin(); ${source}`, { globals: { begin, host } }),
        () => count,
      );
      expect(status).toBe('terminated');
      expect(most).toBeLessThanOrEqual(SANDBOX_LIMITS.callsInFlight);
    },
  );

  it('adversarial 14: of calls never has more pending than the limit, and all are answered in order', async () => {
    let underWay = 0;
    let most = 0;
    const host = async (n: number) => {
      underWay += 1;
      most = Math.max(most, underWay);
      await new Promise((resolve) => setTimeout(resolve, 1));
      underWay -= 1;
      return n;
    };
    const source =
      'export default (await Promise.all(Array.from({ length: 5000 }, (_, n) => host(n)))).every((n, i) => n === i)';
    expect((await scope.runCode(source, { globals: { host } })).result).toBe(true);
    expect(most).toBeLessThanOrEqual(SANDBOX_LIMITS.callsInFlight);
  });
});

/** Sources that make the transform slow or deeply recursive. */
const CHOKING: Readonly<Record<string, string>> = {
  'nested casts and arrows': `x = ${'<T>('.repeat(30)}a${')=>1'.repeat(30)}`,
  'nested parentheses': `x = ${'('.repeat(5000)}1${')'.repeat(5000)}`,
  'a type of ten thousand levels': `type A = ${'{ a: '.repeat(10_000)}1${' }'.repeat(10_000)}`,
  'a megabyte of angle brackets': `x = ${'<'.repeat(1e6)}`,
  'a megabyte of braces': '{'.repeat(1e6),
  'a megabyte of backticks': '`${'.repeat(3e5),
};
/** Rows for the long form only: endless brackets, like other rows. */
const MORE_OF_A_KIND = ['nested parentheses', 'a megabyte of braces'];

describe('a source that is slow to transform', () => {
  it.each(rowsOf(CHOKING, ...MORE_OF_A_KIND))(
    'adversarial 17: %s keeps the worker responsive, and can be terminated',
    async (name, source) => {
      const status = await flooded(
        name,
        (begin) => {
          begin();
          return scope.runCode(source);
        },
        () => 0,
      );
      expect(['terminated', 'link_error', 'memory', 'error']).toContain(status);
      expect((await scope.runCode('export default 1')).result).toBe(1);
    },
  );
});

describe('a process that dies', () => {
  // A child that is still starting changes its process id later: no child of that sandbox may be taken for one of these
  // tests' own.
  beforeAll(() => sandbox.close());

  it('adversarial 18: a child killed from outside ends its run as error, and the pool recovers', async () => {
    const own = createSandbox({ size: 1 });
    const { runCode } = own.scope();
    let called = false;
    const begin = () => {
      called = true;
    };
    const run = runCode('begin(); await new Promise(() => {})', { globals: { begin } });
    await eventually('the run begins', () => called);
    // The oldest child has the run. The spare must not be killed: it could be given the next run before its death is
    // noticed.
    process.kill(sandboxChildren()[0] as number, 'SIGKILL');
    const { status, error } = await run;
    expect({ status, name: error?.name }).toEqual({ status: 'error', name: 'SandboxCrashed' });
    expect(error?.message).toContain('SIGKILL');
    expect((await runCode('export default "alive"')).result).toBe('alive');
    await own.close();
  });

  it('adversarial 18: a killed worker leaves no child behind, busy or waiting', async () => {
    const worker = spawn(process.execPath, [`${import.meta.dirname}/doomed-worker.ts`], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const pid = worker.pid as number;
    let ready = 0;
    worker.stdout.on('data', (chunk: Buffer) => {
      ready += chunk.toString().split('ready').length - 1;
    });
    await eventually('both runs are under way', () => ready === 2);
    const children = sandboxChildren(pid);
    expect(children.length).toBeGreaterThanOrEqual(2);
    worker.kill('SIGKILL');
    await eventually('the children are gone', () => !isAlive(pid) && !children.some(isAlive));
  });
});
