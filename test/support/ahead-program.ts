/**
 * Prints the activity that a thread schedules in each activation, when a stop arrives together with the result of a
 * call whose activity has already begun the next step.
 */
import { json, openWorkflowVm, resolved, signal, stepped } from '../../bench/support/workflow-vm.ts';

const vm = await openWorkflowVm('sdk');
const thread = await vm.restingThread();
const asked: string[] = [];
let seq = 0;
const activate = async (...jobs: Parameters<typeof thread.activate>[0]) => {
  const { scheduled, failure } = await thread.activate(jobs);
  asked.push(failure ?? scheduled?.activityType ?? 'nothing');
  seq = scheduled?.seq ?? seq;
};
const answer = (outcome: object) => resolved(seq, outcome);
const say = () => signal('queueMessage', json('{"content":"go"}'));
const step = stepped;
const called = { kind: 'done', name: 'tool', succeeded: true, queued: 0 };

await activate(say());
await activate(answer(step(1)));
await activate(answer({ ...called, next: step(2) }));
await activate(signal('stop'), answer({ ...called, next: step(3) }));
await activate(answer({ kind: 'rest', waiting: 0, step: 3 }));
await activate(say());
await thread.close();
await vm.close();
console.log(JSON.stringify(asked));
