/**
 * Prints the activity that a thread schedules in each activation, for outcomes of activities that have made several
 * steps, once when a stop arrives together with one.
 */
import { json, openWorkflowVm, resolved, signal, stepped } from '../../bench/support/workflow-vm.ts';

const vm = await openWorkflowVm('sdk');
const thread = await vm.restingThread();
const asked: string[] = [];
let seq = 0;
const activate = async (...jobs: Parameters<typeof thread.activate>[0]) => {
  const { scheduled, failure } = await thread.activate(jobs);
  const input = Buffer.from(scheduled?.arguments?.[0]?.data ?? []).toString();
  const { ordinal = 0 } = JSON.parse(input || '{}') as { readonly ordinal?: number };
  const isStep = scheduled?.activityType === 'modelStep';
  asked.push(failure ?? (isStep ? `modelStep ${ordinal}` : scheduled?.activityType) ?? 'nothing');
  seq = scheduled?.seq ?? seq;
};
const answer = (outcome: object) => resolved(seq, outcome);
const say = () => signal('queueMessage', json('{"content":"go"}'));
const earlier = (count: number, afterStep: number) => ({
  earlier: { count, afterStep, swept: 0, queued: 0, executionId: 'execution' },
});
const called = { kind: 'done', name: 'tool', succeeded: true, queued: 0 };
const ending = { ...stepped(6), rules: { stopOnResponse: true }, callCount: 0, calls: [] };
const rest = (step: number) => ({ kind: 'rest', waiting: 0, step });

await activate(say());
await activate(answer({ ...stepped(3), ...earlier(2, 2) }));
await activate(answer(called));
await activate(answer({ kind: 'unknown', ...earlier(2, 5) }));
await activate(answer({ ...ending, rest: rest(6) }));
await activate(say());
await activate(signal('stop'), answer({ ...stepped(9), ...earlier(2, 8) }));
await activate(answer(rest(9)));
await activate(say());
await thread.close();
await vm.close();
console.log(JSON.stringify(asked));
