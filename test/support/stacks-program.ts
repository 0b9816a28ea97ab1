/**
 * Prints the answers of a thread, in its own workflow context, to the two stack queries; the argument `ours` or `sdk`
 * selects who records the stacks.
 */
import { openWorkflowVm, signal } from '../../bench/support/workflow-vm.ts';

const vm = await openWorkflowVm(process.argv[2] === 'ours' ? 'ours' : 'sdk');
let formatted = 0;
const format = Error.prepareStackTrace;
Error.prepareStackTrace = (error, frames) => {
  if (error.constructor !== Error) formatted += 1;
  return format?.(error, frames);
};
const thread = await vm.restingThread();
const ask = async () => ({
  text: JSON.parse(await thread.query('__stack_trace')) as string,
  stacks: JSON.parse(await thread.query('__enhanced_stack_trace')).stacks as unknown,
});
await thread.steps(2);
const formattedUnasked = formatted;
const amidStep = await ask();
await thread.activate([signal('stop')]);
const stopping = await ask();
thread.evaluate(`
  const never = () => new Promise(() => {});
  globalThis.waiting = [
    never(),
    Promise.all([never(), never().then(() => 1)]),
    Promise.race([never(), Promise.resolve(1)]),
    Promise.any([never(), never()]),
    (async () => { await Promise.allSettled([never()]); })(),
  ];
`);
const evaluated = await ask();
await thread.close();
await vm.close();
console.log(JSON.stringify({ formattedUnasked, answers: { amidStep, stopping, evaluated } }));
