/**
 * The history that a task's steps leave, and that a task continues as new. The 2,000 steps are in `long-task.soak.ts`.
 */
import { describe, expect, it } from '@jest/globals';
import { measureLongTask } from './long-task.ts';

describe('a long task', () => {
  it('leaves less than 2 KB of history a step, and continues as new', async () => {
    const { bytesPerStep, runs, task } = await measureLongTask({ steps: 40, historySoftLimit: 200 });
    expect(task).toMatchObject({ status: 'completed', steps: 40 });
    expect(runs).toBeGreaterThan(1);
    expect(bytesPerStep).toBeLessThan(2048);
  });
});
