import { readdirSync, readFileSync } from 'node:fs';
import { openRig, quietRuntime } from './support/rig.ts';
import { measureSteps } from './support/history.ts';
import { median } from './support/report.ts';
quietRuntime();
const rig = await openRig('memory');
const K = 20;
const threads = () => new Map(readdirSync('/proc/self/task').map((t) => { const s = readFileSync(`/proc/self/task/${t}/stat`, 'utf8'); const name = s.slice(s.indexOf('(') + 1, s.lastIndexOf(')')); const f = s.slice(s.lastIndexOf(')') + 2).split(' '); return [t, { name, ms: (Number(f[11]) + Number(f[12])) * 10 }]; }));
for (const round of [0, 1]) for (const kind of ['bare', 'once', 'bareQuick', 'quick'] as const) {
  const go = async () => (kind.startsWith('bare') ? rig.bare(kind as 'bare', K) : `thread/${await rig.turn(kind as 'once', K)}`);
  for (let i = 0; i < 3; i++) await go();
  const before = threads(), N = 20;
  const ids: string[] = [];
  for (let i = 0; i < N; i++) ids.push(await go());
  const after = threads();
  const sum = new Map<string, number>();
  let total = 0;
  for (const [t, { name, ms }] of after) { const d = ms - (before.get(t)?.ms ?? 0); total += d; const key = name === 'node' ? `${name}-${t}` : name; sum.set(key, (sum.get(key) ?? 0) + d); }
  const ms: number[] = [];
  for (const id of ids) ms.push(...(await measureSteps(rig.client.temporal, id)).map((x) => x.ms));
  if (round) console.log(kind, 'cpu/step', (total / N / K).toFixed(2), 'median', median(ms).toFixed(2), [...sum].filter(([, v]) => v / N / K > 0.05).sort((a, b) => b[1] - a[1]).map(([k, v]) => `${k} ${(v / N / K).toFixed(2)}`).join(', '));
}
await rig.close();
