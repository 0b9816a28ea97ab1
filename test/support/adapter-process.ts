/** A process that has the adapter of a task: `node adapter-process.ts STORE TASK`. It tells that it acts, and hangs there. */
import { runAgentTask } from '../../src/tangle/tasks.ts';

const [store = '', id = ''] = process.argv.slice(2);
// Whoever started it is gone: nothing may outlive its test.
process.on('disconnect', () => process.exit(1));
await runAgentTask({
  store,
  task: { id, intent: 'hang' },
  workflowBundle: process.env.EVERTHREAD_TEST_BUNDLE,
  adapter: {
    observe: () => 'x',
    decide: () => ({ kind: 'act', action: 'hang' }),
    act() {
      process.send?.('acts');
      return new Promise(() => undefined);
    },
  },
});
