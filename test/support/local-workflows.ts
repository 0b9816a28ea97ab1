/** Workflows of which a replay could have another order of events than their life (test/replay/local-activities.test.ts). */
import {
  condition,
  defineQuery,
  defineSignal,
  proxyLocalActivities,
  setHandler,
  sleep,
  upsertMemo,
} from '@temporalio/workflow';

export interface LocalActivities {
  /** Sends as many queries as it is told, and then a nudge. */
  nudge(queries: number): Promise<void>;
  /** Each takes so many milliseconds. */
  waitHere(milliseconds: number): Promise<void>;
  waitThere(milliseconds: number): Promise<void>;
}

const { nudge, waitHere, waitThere } = proxyLocalActivities<LocalActivities>({
  startToCloseTimeout: '1 minute',
});

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

/** Two flows of local activities, each with more awaits between them the further it is: their order is their sequence numbers. */
export async function beside(): Promise<void> {
  const flow = async (wait: (milliseconds: number) => Promise<void>, awaits: number) => {
    for (let turn = 0; turn < 30; turn++) {
      await wait(1 + ((turn * awaits) % 5));
      for (let left = awaits; left > 0; left--) await undefined;
    }
  };
  await Promise.all([flow(waitHere, 9), flow(waitThere, 2)]);
}

/** A nudge comes while a local activity outlasts its task, and sets off more than the result does that comes after it. */
export async function outlasted(): Promise<void> {
  let nudged = false;
  setHandler(defineSignal('stop'), () => {
    nudged = true;
  });
  const chain = (async () => {
    await condition(() => nudged);
    for (let turn = 0; turn < 20; turn++) await undefined;
    await sleep(1);
  })();
  await nudge(0);
  upsertMemo({ done: true });
  await chain;
}
