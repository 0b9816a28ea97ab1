/** A workflow whose query takes its time, so that a local activity ends meanwhile (test/replay/query.test.ts). */
import {
  condition,
  defineQuery,
  defineSignal,
  proxyLocalActivities,
  setHandler,
  sleep,
} from '@temporalio/workflow';

export interface NudgeActivities {
  /** Sends as many queries as it is told, and then a nudge. */
  nudge(queries: number): Promise<void>;
}

const { nudge } = proxyLocalActivities<NudgeActivities>({ startToCloseTimeout: '1 minute' });

/** Sets as many timers as it knew of nudges when the second local activity was done. */
export async function asked(): Promise<number> {
  let nudges = 0;
  setHandler(defineSignal('stop'), () => {
    nudges += 1;
  });
  setHandler(defineQuery<number>('status'), () => {
    // Some hundred milliseconds.
    for (let turn = 0; turn < 2e8; turn++);
    return nudges;
  });
  // Its task, the second one, has the queries.
  await nudge(10);
  await condition(() => nudges > 0);
  await nudge(0);
  const known = nudges;
  await Promise.all(Array.from({ length: known }, () => sleep(1)));
  await condition(() => nudges > 1);
  return known;
}
