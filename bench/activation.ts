/**
 * What a thread's workflow costs the workflow thread: an ordinary step, and one activation in the worst case that the
 * server allows: 10,000 signals, or 50 MB of history at once. The SDK ends a script in the workflow's context after 5
 * seconds, so the longest script is measured; the goal leaves room for a machine that is 15 times as busy.
 * `node_modules/.bin/node bench/activation.ts [--json FILE] [--only WORD]...`
 */
import { type Line, readOptions, report } from './support/report.ts';
import { type Job, json, openWorkflowVm, signal, type WorkflowVm } from './support/workflow-vm.ts';

const COUNT = 10_000;
const LONGEST_MS = 5000 / 15;

const text = (bytes: number) => 'x'.repeat(bytes);
const numbers = (count: number) => Array(count).fill('1234').join(',');
const brackets = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
const message = (content: string) => signal('queueMessage', json(content));

const CASES: Readonly<Record<string, readonly [count: number, make: (index: number) => Job]>> = {
  '10 messages': [10, (i) => message(`{"content":"message ${i}"}`)],
  '10,000 small messages': [COUNT, (i) => message(`{"content":"message ${i}"}`)],
  '10,000 messages with ids': [COUNT, (i) => message(`{"id":"m${i}","content":"x"}`)],
  '10,000 junk messages': [COUNT, (i) => message(`{"junk":${i}}`)],
  '10,000 messages of 4 KB': [COUNT, () => message(`{"content":"${text(4000)}"}`)],
  '1,500 messages of 32 KB': [1500, () => message(`{"content":"${text(32_000)}"}`)],
  '1,500 messages of 32 KB of numbers': [
    1500,
    () => message(`{"content":"x","metadata":{"a":[${numbers(6400)}]}}`),
  ],
  '200 payloads of 250 KB of brackets': [
    200,
    () => message(`{"content":"x","metadata":{"a":${brackets(125_000)}}}`),
  ],
  '200 payloads of 250 KB of numbers': [
    200,
    () => message(`{"content":"x","metadata":{"a":[${numbers(50_000)}]}}`),
  ],
  '25 payloads of 2 MB': [25, () => message(`{"content":"${text(2_000_000)}"}`)],
  '10,000 unknown signals': [COUNT, (i) => signal(`unknown ${i}`)],
  '10,000 wakes for effects': [COUNT, (i) => signal('wakeForEffects', json(`{"inMs":${1e300 - i}}`))],
  '10,000 wakes for messages': [COUNT, (i) => signal('wakeForMessages', json(`{"reportOf":"t${i}"}`))],
  '10,000 stops': [COUNT, () => signal('stop', json('{"reason":"x"}'))],
  '5,000 by turns of two kinds': [
    COUNT / 2,
    (i) => (i % 2 ? signal('stop') : message(`{"content":"message ${i}"}`)),
  ],
};

async function measure(vm: WorkflowVm, name: string): Promise<Line> {
  const [count, make] = CASES[name] as (typeof CASES)[string];
  const jobs = Array.from({ length: count }, (_, index) => make(index));
  const thread = await vm.restingThread();
  const { scripts, commands, failure } = await thread.activate(jobs);
  await thread.close();
  if (failure !== undefined) throw new Error(`${name}: ${failure}`);
  const total = scripts.reduce((sum, one) => sum + one, 0);
  const note = `${total.toFixed(0)} ms in ${scripts.length} scripts; ${commands.join(', ')}`;
  return { what: name, value: Math.max(...scripts), unit: 'ms', atMost: LONGEST_MS, note };
}

const STEPS = 200;

/** Measures what a step of a turn costs the workflow thread, once the code is warm. */
async function measureStep(vm: WorkflowVm): Promise<Line> {
  const perStep: number[] = [];
  for (let round = 0; round < 5; round++) {
    const thread = await vm.restingThread();
    const { scripts } = await thread.steps(STEPS);
    await thread.close();
    perStep.push(scripts.reduce((sum, one) => sum + one, 0) / STEPS);
  }
  return { what: 'a step', value: Math.min(...perStep), unit: 'ms', note: `the least of ${perStep.length}` };
}

const { json: file, only } = readOptions();
const vm = await openWorkflowVm();
const lines: Line[] = [];
if (only.length === 0 || only.includes('step')) lines.push(await measureStep(vm));
for (const name of Object.keys(CASES)) {
  if (only.length === 0 || only.some((word) => name.includes(word))) lines.push(await measure(vm, name));
}
await vm.close();
report('The longest script of an activation', lines, file);
