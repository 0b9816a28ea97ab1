/** The workflow that the doctor runs: activities that do nothing, one after the other, to measure the cost of one. */
import { proxyActivities } from '@temporalio/workflow';

export interface ProbeActivities {
  /** The worker's clock, in milliseconds. */
  readClock(): Promise<number>;
}

const { readClock } = proxyActivities<ProbeActivities>({
  startToCloseTimeout: '10 s',
  retry: { maximumAttempts: 3 },
});

/** Returns when each activity ran, in milliseconds of the worker's clock. */
export async function probe(count: number): Promise<number[]> {
  const times: number[] = [];
  for (let done = 0; done < count; done++) times.push(await readClock());
  return times;
}
