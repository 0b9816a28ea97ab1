/**
 * The page's pair: one agent drafts, its stream is collected, and another one reviews the draft as a task. A good one passes, a bad one fails with what its
 * rubric says. `node scripts/run.mjs examples/tangle/agent-into-reviewer.ts`; needs a Temporal server, and no key of any provider.
 */
import { createIterableBackend, type GivenAdapter, runAgentTask } from '../../src/faces/tangle/index.ts';

const drafts: Readonly<Record<string, readonly string[]>> = {
  thorough: ['The invoice is complete but for ', 'one thing that is missing: ', 'the date of delivery.'],
  hasty: ['Fine.'],
};
const writer = createIterableBackend(({ message = '' }) => drafts[message] ?? []);

const reviewer: GivenAdapter<{ length: number; saysWhatIsMissing: boolean }, never> = {
  observe: ({ task }) => {
    const draft = String(task.inputs?.draft);
    return { length: draft.length, saysWhatIsMissing: draft.includes('missing') };
  },
  validate: ({ state }) => [
    { id: 'long-enough', passed: state.length >= 60, score: Math.min(1, state.length / 60) },
    { id: 'surfaces-missing', passed: state.saysWhatIsMissing, score: state.saysWhatIsMissing ? 1 : 0 },
  ],
  decide: ({ evals }) => {
    const failing = evals.filter(({ passed }) => !passed).map(({ id }) => id);
    return { kind: 'stop', pass: failing.length === 0, reason: `the draft fails: ${failing.join(', ')}` };
  },
  act: () => {
    throw new Error('A reviewer never acts.');
  },
};

for (const message of Object.keys(drafts)) {
  let draft = '';
  for await (const event of writer.stream({ task: { id: message, intent: 'draft' }, message }))
    if (event.type === 'text_delta') draft += event.text;
  const { status, control } = await runAgentTask({
    task: { id: `review-${message}`, intent: 'review-draft', inputs: { draft } },
    adapter: reviewer,
    store: 'sqlite:.everthread/examples.db',
  });
  console.log(`${message}: ${status}, pass ${control.pass}${control.pass ? '' : `, ${control.reason}`}`);
}
