/** A task of 2,000 steps. */
import { expect, it } from '@jest/globals';
import { measureLongTask } from './long-task.ts';

it('leaves less than 2 KB of history a step over 2,000 steps', async () => {
  const { bytesPerStep, runs, task } = await measureLongTask({ steps: 2000, historySoftLimit: 2000 });
  process.stdout.write(`${Math.round(bytesPerStep)} bytes a step, ${runs} runs\n`);
  expect(task).toMatchObject({ status: 'completed', steps: 2000 });
  expect(bytesPerStep).toBeLessThan(2048);
});
