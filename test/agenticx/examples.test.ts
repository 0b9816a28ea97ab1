/** Runs the example of AgenticX's page as a user would: in a separate process, on a real server, without a key. */
import { expect, it } from '@jest/globals';
import { runExample } from '../support/run-example.ts';

it('[AX-140] typical usage: a task runs to its result', async () => {
  const lines = await runExample('agenticx/typical-usage.ts');
  expect(lines.slice(-3)).toEqual([
    'task_end',
    'success: true, result: X is well understood.',
    'calls: 2, state: completed',
  ]);
}, 300_000);
