/**
 * The sandbox beside quickjs-emscripten and node:vm, both in this process, and Node's own worker_threads for reference.
 * `node_modules/.bin/node bench/sandbox.ts [--only PART]... [--quick] [--json [FILE]]`; `--help` names the parts.
 *
 * Method. Every engine evaluates the same module in a separate realm that ends with the call (`sandbox/engines/`
 * has the settings): ours an isolate in a warm child process, QuickJS a runtime, vm a context, worker a thread.
 * In one run the engines alternate in changing order; medians count, and a first round is discarded. Ours
 * is the only engine that erases TypeScript, copies more than JSON, and leaves the host's event loop free; its times
 * include all that.
 *
 * `hostile` measures containment: each program runs with each engine in a host process that may be lost, with a
 * limit of 32 MiB and a deadline of 200 ms. Its verdicts are derived only from the host's messages, its end, and
 * /proc of it and its children every 10 ms. Only on Linux.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { ENGINES, type Engine } from './sandbox/engine.ts';
import { measureFirstCall } from './sandbox/first-call.ts';
import { type Finding, tryHostile } from './sandbox/hostile.ts';
import { HOSTILE } from './sandbox/hostile-programs.ts';
import { loadEngine } from './sandbox/load-engine.ts';
import {
  failures,
  measureBridge,
  measureCold,
  measureCpu,
  measureEcho,
  measureThroughput,
  type Plan,
} from './sandbox/measure.ts';
import { printFindings } from './sandbox/print-findings.ts';
import { machine, printRows, type Row, verdictOfRow } from './sandbox/table.ts';
import { measureTenants, printTenants, type TenantRow } from './sandbox/tenants.ts';

const MEASURES: Readonly<Record<string, (plan: Plan) => Promise<Row[]>>> = {
  cold: measureCold,
  throughput: measureThroughput,
  bridge: measureBridge,
  echo: measureEcho,
  cpu: measureCpu,
};
const PARTS = [...Object.keys(MEASURES), 'first', 'tenants', 'hostile'];
const HELP = `node_modules/.bin/node bench/sandbox.ts [options]

  --only PART    one of ${PARTS.join(', ')}; may be given again
  --quick        few samples: to see that it runs, not to believe it
  --json [FILE]  JSON instead of the tables, or beside them in FILE
  --help`;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string', multiple: true, default: [] },
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const [file] = positionals;
const unknown = options.only.find((part) => !PARTS.includes(part));
if (options.help || unknown !== undefined || positionals.length > (options.json ? 1 : 0)) {
  console.error(unknown === undefined ? HELP : `There is no part "${unknown}".\n\n${HELP}`);
  process.exit(options.help ? 0 : 2);
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const quick = options.quick;
const rows: Row[] = [];
const findings: Finding[] = [];
const about = machine();
if (asked('first')) {
  progress('first');
  rows.push(...(await measureFirstCall(quick)));
}
const measures = Object.entries(MEASURES).filter(([part]) => asked(part));
if (measures.length > 0) {
  const engines = await Promise.all(ENGINES.map(async (name) => (await loadEngine(name))()));
  for (const [part, measure] of measures) {
    progress(part);
    rows.push(...(await measure({ engines, quick })));
  }
  await Promise.all(engines.map((engine: Engine) => engine.close()));
}
let tenants: TenantRow[] = [];
if (asked('tenants') && process.platform !== 'linux') progress('tenants: left out, it reads /proc');
else if (asked('tenants')) {
  progress('tenants');
  tenants = await measureTenants(quick);
}
if (asked('hostile') && process.platform !== 'linux') progress('hostile: left out, it reads /proc');
else if (asked('hostile')) {
  for (const program of HOSTILE) {
    progress(`hostile: ${program.name}`);
    for (const engine of ENGINES) findings.push(await tryHostile(engine, program));
  }
}

if (!options.json || file !== undefined) {
  if (rows.length > 0) printRows(`The sandbox beside others (${about})`, rows);
  if (failures.length > 0) console.log(`\ncalls that failed: ${failures.length}\n${failures.join('\n')}`);
  if (tenants.length > 0) printTenants(tenants);
  if (findings.length > 0) printFindings(findings);
}
if (options.json) {
  const verdicts = rows.map((row) => ({ ...row, verdict: verdictOfRow(row) }));
  const title = 'The sandbox beside others';
  const text = `${JSON.stringify({ title, machine: about, at: new Date().toISOString(), rows: verdicts, tenants, failures, findings }, null, 2)}\n`;
  if (file === undefined) process.stdout.write(text);
  else writeFileSync(file, text);
}

function asked(part: string): boolean {
  return options.only.length === 0 || options.only.includes(part);
}

function progress(what: string): void {
  console.error(`${(performance.now() / 1000).toFixed(0).padStart(4)} s  ${what}`);
}
