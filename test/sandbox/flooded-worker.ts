/**
 * A host that runs two programs whose output it has to keep, and prints how they ended. `held-memory.test.ts` starts
 * it.
 */
import { createSandbox } from '../../src/sandbox/index.ts';

const MIB = 1024 * 1024;

const FLOODS = {
  'long texts': "const text = 'x'.repeat(4e6); for (let i = 0; i < 400; i++) console.log(text, i)",
  'many empty arrays':
    'const all = Array.from({ length: 60_000 }, () => []); for (let i = 0; i < 1100; i++) console.log(all, i)',
  'many empty objects':
    'const all = Array.from({ length: 60_000 }, () => ({})); for (let i = 0; i < 1100; i++) console.log(all, i)',
  reports: 'const all = Array.from({ length: 60_000 }, () => []); for (let i = 0; i < 40; i++) report(all)',
};
export type Flood = keyof typeof FLOODS;

const source = `${FLOODS[process.argv[2] as Flood]}; export default 1;`;
const sandbox = createSandbox({ size: 2 });
const options = { memoryLimitBytes: 256 * MIB, report: () => undefined };
const runs = await Promise.all([1, 2].map(() => sandbox.scope().runCode(source, options)));
const told = runs.map(({ status, logs, reports }) => ({
  status,
  logs: logs.length,
  firstLog: String(logs[0]?.args[0] ?? '').slice(0, 100),
  reports: reports.length,
}));
await sandbox.close();
process.stdout.write(JSON.stringify(told));
