/**
 * What one activation of a thread's workflow costs when everything that the server admits comes at once: 10,000 signals, or
 * 50 MB of history. The SDK ends a script in the workflow's context after 5 s, so the longest script is the figure.
 * `node_modules/.bin/node bench/activation.ts`
 */
import { type Job, json, openWorkflowVm, signal } from './support/workflow-vm.ts';

const COUNT = 10_000;
const many = (count: number, make: (index: number) => Job) =>
  Array.from({ length: count }, (_, index) => make(index));
const text = (bytes: number) => 'x'.repeat(bytes);

const CASES: Readonly<Record<string, () => readonly Job[]>> = {
  '10 messages': () => many(10, (i) => signal('queueMessage', json(`{"content":"message ${i}"}`))),
  '10,000 small messages': () =>
    many(COUNT, (i) => signal('queueMessage', json(`{"content":"message ${i}"}`))),
  '10,000 messages with ids': () =>
    many(COUNT, (i) => signal('queueMessage', json(`{"id":"m${i}","content":"x"}`))),
  '10,000 junk messages': () => many(COUNT, (i) => signal('queueMessage', json(`{"junk":${i}}`))),
  '10,000 messages of 4 KB': () =>
    many(COUNT, () => signal('queueMessage', json(`{"content":"${text(4000)}"}`))),
  '1,500 messages of 32 KB': () =>
    many(1500, () => signal('queueMessage', json(`{"content":"${text(32_000)}"}`))),
  '1,500 messages of 32 KB of metadata': () =>
    many(1500, () =>
      signal(
        'queueMessage',
        json(`{"content":"x","metadata":{"a":[${Array(6400).fill('1234').join(',')}]}}`),
      ),
    ),
  '25 junk payloads of 2 MB': () =>
    many(25, () => signal('queueMessage', json(`{"content":"${text(2_000_000)}"}`))),
  '25 junk payloads of 2 MB of brackets': () =>
    many(25, () =>
      signal(
        'queueMessage',
        json(`{"content":"x","metadata":{"a":${'['.repeat(999_000)}${']'.repeat(999_000)}}}`),
      ),
    ),
  '10,000 unknown signals': () => many(COUNT, (i) => signal(`unknown ${i}`)),
  '10,000 wakes for effects': () =>
    many(COUNT, (i) => signal('wakeForEffects', json(`{"inMs":${1e300 - i}}`))),
  '10,000 wakes for messages': () =>
    many(COUNT, (i) => signal('wakeForMessages', json(`{"reportOf":"t${i}"}`))),
  '10,000 stops': () => many(COUNT, () => signal('stop', json('{"reason":"x"}'))),
};

const words = process.argv.slice(2);
const vm = await openWorkflowVm();
for (const [name, make] of Object.entries(CASES)) {
  if (words.length > 0 && !words.some((word) => name.includes(word))) continue;
  const thread = await vm.restingThread();
  const { scripts, commands, failure } = await thread.activate(make());
  await thread.close();
  const longest = Math.max(...scripts);
  const total = scripts.reduce((sum, one) => sum + one, 0);
  console.log(
    name.padEnd(40),
    `longest ${longest.toFixed(1)} ms`,
    `total ${total.toFixed(1)} ms`,
    `${scripts.length} scripts`,
    commands.join(','),
    failure ?? '',
  );
}
await vm.close();
