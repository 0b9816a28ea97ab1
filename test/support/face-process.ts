/**
 * A process with a face: `node face-process.ts STORE [own]`. With `own` it has installed a runtime of Temporal with a
 * logger of its own, which the SDK has ended once with its last connection, and prints how many entries that received.
 */
import { DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker';
import { runAgentTask } from '../../src/faces/tangle/tasks.ts';

const [store = '', own] = process.argv.slice(2);
let entries = 0;
const count = () => {
  entries += 1;
};
if (own) {
  Runtime.install({ logger: new DefaultLogger('INFO', count) });
  await (await NativeConnection.connect({ address: process.env.TEMPORAL_ADDRESS ?? '' })).close();
}
const { status } = await runAgentTask({
  store,
  task: { intent: 'log' },
  workflowBundle: process.env.EVERTHREAD_TEST_BUNDLE,
  adapter: {
    observe: () => 'x',
    validate: () => [{ id: 'done', passed: true }],
    decide: () => ({ kind: 'act', action: 'none' }),
    act: () => undefined,
  },
});
console.log(status, entries);
