/**
 * The cost of a step: history (a), time beside a bare workflow (b), steps per second with many threads (c), actions
 * (d).
 * `node_modules/.bin/node bench/step.ts [--json FILE] [--quick] [--only history|time|throughput|actions]...`
 * A step is one model call and one tool call. All parts are real except the model, which answers at once.
 */
import { measureActions } from './support/measure-actions.ts';
import { measureHistory } from './support/measure-history.ts';
import { measureThroughput } from './support/measure-throughput.ts';
import { measureTime } from './support/measure-time.ts';
import { type Line, readOptions, report } from './support/report.ts';
import { openRig, quietRuntime, type Rig, type ServerKind } from './support/rig.ts';

type Measure = (rig: Rig, server: ServerKind, quick: boolean) => Promise<Line[]>;

const PARTS: Readonly<Record<string, Measure>> = {
  history: measureHistory,
  time: measureTime,
  throughput: measureThroughput,
};

const { json, quick, only } = readOptions();
quietRuntime();
const lines: Line[] = [];
const asked = (part: string) => only.length === 0 || only.includes(part);
if (asked('actions')) lines.push(...(await measureActions()));
for (const server of ['memory', 'file'] as const) {
  // History has the same bytes on any server.
  const parts = Object.keys(PARTS).filter(
    (part) => asked(part) && !(part === 'history' && server === 'file'),
  );
  if (parts.length === 0) continue;
  const rig = await openRig(server);
  try {
    for (const part of parts) lines.push(...((await PARTS[part]?.(rig, server, quick)) ?? []));
  } finally {
    await rig.close();
  }
}
report('A step', lines, json);
