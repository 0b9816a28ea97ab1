/**
 * The cost of one child per tenant: tenants that alternate at `run_code`, the spare processes, and their memory. Only
 * on Linux. `pause` is the time after each answer, in which a spare may be started.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { createSandbox, type Sandbox } from '../../src/sandbox/index.ts';
import { median, quantile } from '../support/report.ts';
import { printTable } from './table.ts';

export interface TenantRow {
  readonly tenants: number;
  readonly pauseMs: number;
  readonly callMs: number;
  readonly callP95Ms: number;
  readonly callsPerSecond: number;
  readonly startsPerCall: number;
  /** Spare processes when nothing runs, and their private memory. */
  readonly atRest: number;
  readonly privateMib: number;
}

const QUIET_MS = 1500;

export async function measureTenants(quick: boolean): Promise<TenantRow[]> {
  const rows: TenantRow[] = [];
  for (const pauseMs of [0, 500]) {
    for (const tenants of [1, 2, 4]) rows.push(await alternate(tenants, pauseMs, quick ? 8 : 40));
  }
  return rows;
}

async function alternate(tenants: number, pauseMs: number, calls: number): Promise<TenantRow> {
  const sandbox = createSandbox({ size: 2 });
  try {
    await call(sandbox, 0);
    await delay(QUIET_MS);
    const seen = new Set(children());
    const before = seen.size;
    const times: number[] = [];
    for (let n = 0; n < calls; n++) {
      const startedAt = performance.now();
      await call(sandbox, n % tenants);
      times.push(performance.now() - startedAt);
      for (const pid of children()) seen.add(pid);
      if (pauseMs > 0) await delay(pauseMs);
    }
    await delay(QUIET_MS);
    const rest = children();
    const sum = times.reduce((all, each) => all + each, 0);
    return {
      tenants,
      pauseMs,
      callMs: median(times),
      callP95Ms: quantile(times, 0.95),
      callsPerSecond: (calls * 1000) / sum,
      startsPerCall: (seen.size - before) / calls,
      atRest: rest.length,
      privateMib: rest.map(privateMib).reduce((all, each) => all + each, 0) / Math.max(1, rest.length),
    };
  } finally {
    await sandbox.close();
  }
}

async function call(sandbox: Sandbox, tenant: number): Promise<void> {
  const scope = sandbox.scope({ tenant: `tenant ${tenant}` });
  const { status, error } = await scope.runCode('export default 42');
  scope.close();
  if (status !== 'success') throw new Error(`${status}: ${error?.message}`);
}

function children(): number[] {
  return readdirSync('/proc/self/task').flatMap((thread) =>
    read(`/proc/self/task/${thread}/children`).split(' ').filter(Boolean).map(Number),
  );
}

function privateMib(pid: number): number {
  const text = read(`/proc/${pid}/smaps_rollup`);
  const kib = [...text.matchAll(/^Private_(?:Clean|Dirty):\s+(\d+)/gm)].reduce(
    (sum, [, all]) => sum + Number(all),
    0,
  );
  return kib / 1024;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

export function printTenants(rows: readonly TenantRow[]): void {
  printTable('Tenants that take turns, two places', [
    [
      'tenants',
      'pause ms',
      'call p50 ms',
      'p95 ms',
      'calls/s',
      'starts per call',
      'at rest',
      'private MiB each',
    ],
    ...rows.map((row) => [
      `${row.tenants}`,
      `${row.pauseMs}`,
      row.callMs.toFixed(1),
      row.callP95Ms.toFixed(1),
      row.callsPerSecond.toFixed(1),
      row.startsPerCall.toFixed(2),
      `${row.atRest}`,
      row.privateMib.toFixed(0),
    ]),
  ]);
}
