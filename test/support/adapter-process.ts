/**
 * A process that runs the adapter of a task: `node adapter-process.ts STORE [TASK]`. It reports that it acts, with the
 * task's id, then hangs.
 */
import { runAgentTask } from '../../src/faces/tangle/tasks.ts';

const [store = '', id] = process.argv.slice(2);
// Exits when its parent does: no process may outlive its test.
process.on('disconnect', () => process.exit(1));
await runAgentTask({
  store,
  task: { ...(id !== undefined && { id }), intent: 'hang' },
  workflowBundle: process.env.EVERTHREAD_TEST_BUNDLE,
  adapter: {
    observe: () => 'x',
    decide: () => ({ kind: 'act', action: 'hang' }),
    act(_, { task }) {
      process.send?.({ id: task.id });
      return new Promise(() => undefined);
    },
  },
});
