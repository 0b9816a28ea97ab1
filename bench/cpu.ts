/**
 * Processor time per step, by thread of the process, beside a bare workflow: stable even on a busy machine. Only on
 * Linux, where the kernel keeps these figures in /proc. `node_modules/.bin/node bench/cpu.ts [--json FILE] [--quick]`
 */
import { readdirSync, readFileSync } from 'node:fs';
import { type Line, readOptions, report } from './support/report.ts';
import { openRig, quietRuntime, type Rig } from './support/rig.ts';

const STEPS = 20;
const KINDS = ['bare', 'once', 'bareQuick', 'quick'] as const;
type Kind = (typeof KINDS)[number];

/** Purpose of a thread of the process, by the name that Node and the SDK give it. */
const PURPOSES: readonly (readonly [RegExp, string])[] = [
  [/^(node|MainThread)$/, 'main: activities, store, client'],
  [/^WorkerThread$/, 'workflow code'],
  [/^(tokio|workflow-proces)/, 'SDK core'],
  [/^libuv/, 'waiting for the disk'],
  [/^V8Worker/, 'compiler and garbage collector'],
];

const { json, quick } = readOptions();
quietRuntime();
const rig = await openRig('memory');
const lines: Line[] = [];
try {
  for (const kind of KINDS) {
    await runTurns(rig, kind, 5);
    lines.push(...(await measure(rig, kind, quick ? 5 : 40)));
  }
} finally {
  await rig.close();
}
report('Processor time per step', lines, json);

async function measure(rig: Rig, kind: Kind, turns: number): Promise<Line[]> {
  const before = readTimes();
  await runTurns(rig, kind, turns);
  const spent = new Map<string, number>();
  for (const [id, { purpose, ms }] of readTimes()) {
    const share = (ms - (before.get(id)?.ms ?? 0)) / (turns * STEPS);
    spent.set(purpose, (spent.get(purpose) ?? 0) + share);
  }
  const total = [...spent.values()].reduce((sum, ms) => sum + ms, 0);
  const parts = [...spent].map(([purpose, value]) => ({ what: `  ${purpose}`, value, unit: 'ms' }));
  return [{ what: `${kind}: all`, value: total, unit: 'ms' }, ...parts];
}

async function runTurns(rig: Rig, kind: Kind, turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) {
    if (kind === 'bare' || kind === 'bareQuick') await rig.bare(kind, STEPS);
    else await rig.turn(kind, STEPS);
  }
}

/** The kernel counts in hundredths of a second, so many steps are needed. */
function readTimes(): Map<string, { purpose: string; ms: number }> {
  return new Map(
    readdirSync('/proc/self/task').map((id) => {
      const stat = readFileSync(`/proc/self/task/${id}/stat`, 'utf8');
      const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const purpose = PURPOSES.find(([pattern]) => pattern.test(name))?.[1] ?? 'other';
      return [id, { purpose, ms: (Number(fields[11]) + Number(fields[12])) * 10 }];
    }),
  );
}
