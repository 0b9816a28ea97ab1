/** The smallest task: an adapter counts to three, in this process. A later run with the same id goes on, or tells the end. `node scripts/run.mjs examples/tangle/basic-task.ts`; needs a Temporal server. */
import { runAgentTask } from '../../src/faces/tangle/tasks.ts';

const { status, control } = await runAgentTask({
  task: { id: 'count-to-three', intent: 'count-to-three', inputs: { to: 3 } },
  adapter: {
    observe: ({ history }) => ({ count: history.filter(({ actionOutcome }) => actionOutcome?.ok).length }),
    validate: ({ state, task }) => [
      {
        id: 'counted',
        passed: state.count >= Number(task.inputs?.to),
        score: state.count / Number(task.inputs?.to),
      },
    ],
    decide: () => ({ kind: 'act', action: { add: 1 } }),
    act: ({ add }) => `added ${add}`,
  },
  store: 'sqlite:.everthread/examples.db',
  onEvent: (event) => {
    if (event.type === 'control_step') console.log(`step ${event.step}: ${event.ok ? 'done' : event.error}`);
  },
});

console.log(`${status}: ${control.reason}, score ${control.score}`);
