/** The page's production run: a row that is there from the start, two calls of a model, and one row at the end. Needs nothing else. */
import { startRuntimeRun } from '../../src/faces/tangle/index.ts';

const rows = new Map<string, object>();
const run = startRuntimeRun({
  id: 'run-1',
  workspaceId: 'acme',
  sessionId: 'session-7',
  taskSpec: { id: 'review' },
  adapter: {
    upsertRun(row) {
      rows.set(row.id, row);
      console.log(`${row.id}: ${row.status}`);
    },
  },
});
await run.started;
run.observe({ type: 'llm_call', data: { model: 'm', tokensIn: 1200, tokensOut: 280, costUsd: 0.0041 } });
run.observe({ type: 'text_delta', data: { text: 'Looks good.' } });
run.observe({ type: 'llm_call', data: { model: 'm', tokensIn: 600, tokensOut: 110, costUsd: 0.002 } });
run.complete({ status: 'completed', resultSummary: 'Looks good.' });
await run.persist();
const { tokensIn, tokensOut, costUsd, llmCalls } = run.cost();
console.log(`calls: ${llmCalls}, in: ${tokensIn}, out: ${tokensOut}, cost: $${costUsd}, rows: ${rows.size}`);
