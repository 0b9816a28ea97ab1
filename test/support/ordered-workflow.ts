/**
 * A workflow whose commands depend on which came first, the end of its activity or a signal
 * (test/worker/ahead-of-task.test.ts).
 */
import {
  condition,
  defineQuery,
  defineSignal,
  proxyActivities,
  setHandler,
  sleep,
} from '@temporalio/workflow';

const { work } = proxyActivities<{ work(round: number): Promise<'go on' | 'end'> }>({
  startToCloseTimeout: '10 minutes',
});

/** Runs rounds until the activity of one returns `end`. */
export async function ordered(): Promise<void> {
  let heard = 0;
  setHandler(defineSignal('tell'), () => {
    heard += 1;
  });
  setHandler(defineQuery('heard'), () => heard);
  for (let round = 0; ; round++) {
    const answer = await work(round);
    const toldBefore = heard > round;
    await condition(() => heard > round);
    if (answer === 'end') return;
    // Each of the two orders leads to a different command.
    if (toldBefore) await sleep(1);
    else await work(-1);
  }
}

/** Causes a workflow task for each signal. */
export async function busy(): Promise<void> {
  let done = false;
  setHandler(defineSignal('poke'), () => {});
  setHandler(defineSignal('end'), () => {
    done = true;
  });
  await condition(() => done);
}
