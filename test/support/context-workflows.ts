/**
 * Our thread workflow, and workflows that damage the V8 context which all workflows of a worker share
 * (test/faults/context-timeout.test.ts).
 */
import { condition, defineSignal, setHandler, sleep } from '@temporalio/workflow';

export { thread } from '../../src/workflows/index.ts';

export type Harm = 'spin' | 'throw' | 'die';

/** Duration of a timer that no other workflow sets. */
export const FOREIGN_TIMER_SECONDS = 987_654;

/**
 * Queues a microtask that sets a timer, then prevents the regular end of the script: by an endless loop, by throwing
 * from a condition, or by ending the worker thread that it runs in.
 */
export async function culprit(harm: Harm): Promise<void> {
  let faulty = false;
  setHandler(defineSignal('go'), () => {
    void Promise.resolve()
      .then(() => sleep(FOREIGN_TIMER_SECONDS * 1000))
      .catch(() => {});
    while (harm === 'spin');
    // Long enough that activations of other workflows are queued.
    for (let turn = 0; turn < 1e8; turn++);
    if (harm === 'die') endThread();
    faulty = true;
  });
  await condition(() => {
    if (faulty) throw new Error('a fault of the condition');
    return false;
  });
}

/** Sets no timer, whatever happens. */
export async function bystander(): Promise<void> {
  let done = false;
  setHandler(defineSignal('end'), () => {
    done = true;
  });
  await condition(() => done);
}

/** Exits by `process`, which is reached through `URL`: the SDK passes that object in from outside of the context. */
function endThread(): void {
  const outside = URL.constructor as unknown as (code: string) => () => NodeJS.Process;
  outside('return process')().exit(3);
}
