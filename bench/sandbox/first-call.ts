/** Measures the first call of a process: from setting the engine up, its code already imported, to the answer. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { median } from '../support/report.ts';
import { ENGINES, type EngineName } from './engine.ts';
import { loadEngine } from './load-engine.ts';
import type { Row } from './table.ts';

const FILE = fileURLToPath(import.meta.url);

export async function measureFirstCall(quick: boolean): Promise<Row[]> {
  const samples: Record<EngineName, number[]> = { everthread: [], quickjs: [], vm: [], worker: [] };
  const rounds = quick ? 1 : 5;
  for (let round = 0; round < rounds; round++) {
    for (const name of ENGINES) samples[name].push(await inNewProcess(name));
  }
  const [everthread, quickjs, vm, worker] = ENGINES.map((name) => median(samples[name])) as [
    number,
    number,
    number,
    number,
  ];
  const note = `median of ${rounds} processes; imports of the host are not counted, ours starts a process from TypeScript sources`;
  const values = { everthread, quickjs, vm, worker };
  return [{ what: 'first call of a process', unit: 'ms', values, note }];
}

function inNewProcess(name: EngineName): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = fork(FILE, [name], { timeout: 10_000, killSignal: 'SIGKILL' });
    child.once('message', (ms: number) => resolve(ms));
    child.once('exit', (code, signal) => reject(new Error(`${name} ended: ${signal ?? code}.`)));
  });
}

async function callOnce(name: EngineName): Promise<void> {
  const open = await loadEngine(name);
  const startedAt = performance.now();
  const engine = await open();
  const { status, message } = await engine.run({ source: 'export default 42' });
  const ms = performance.now() - startedAt;
  await engine.close();
  if (status !== 'success') throw new Error(`${name}: ${status}, ${message}`);
  process.send?.(ms, () => process.disconnect());
}

const [, main, asked] = process.argv;
if (main === FILE) await callOnce(asked as EngineName);
