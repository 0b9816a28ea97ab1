/** (c) Steps per second with 16 and with 200 threads at once, beside as many bare workflows. */
import { type Line, median } from './report.ts';
import type { Rig, ServerKind } from './rig.ts';

const CROWDS = [
  { threads: 16, steps: 20 },
  { threads: 200, steps: 5 },
] as const;

export async function measureThroughput(rig: Rig, server: ServerKind, quick: boolean): Promise<Line[]> {
  const lines: Line[] = [];
  for (const { threads, steps } of CROWDS) {
    const rates: Record<'bare' | 'once' | 'quick', number[]> = { bare: [], once: [], quick: [] };
    for (let round = 0; round < (quick ? 1 : 3); round++) {
      rates.bare.push(await rate(threads, steps, () => rig.bare('bare', steps)));
      rates.once.push(await rate(threads, steps, () => rig.turn('once', steps)));
      rates.quick.push(await rate(threads, steps, () => rig.turn('quick', steps)));
    }
    const where = `${threads} threads, server in ${server}`;
    for (const [kind, values] of Object.entries(rates)) {
      const note = `median of ${values.map((value) => value.toFixed(0)).join(', ')}`;
      const what =
        kind === 'bare' ? `bare steps per second, ${where}` : `steps per second, ${kind} tool, ${where}`;
      lines.push({ what, value: median(values), unit: '/s', note });
    }
  }
  return lines;
}

/** Steps per second from the first start to the last answer, which includes starting and opening the threads. */
async function rate(threads: number, steps: number, run: () => Promise<string>): Promise<number> {
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: threads }, run));
  return (threads * steps * 1000) / (performance.now() - startedAt);
}
