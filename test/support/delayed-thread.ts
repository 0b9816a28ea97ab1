/** Our thread workflow with one more command at its start, as another version might have it. */
import { sleep } from '@temporalio/workflow';
import { thread as ours } from '../../src/workflows/index.ts';

export async function thread(input: unknown): ReturnType<typeof ours> {
  await sleep(1);
  return ours(input);
}
