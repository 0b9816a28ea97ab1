/**
 * Stores answers that signals and updates have brought, beside the loop: it may be waiting for one of them (wait-watch.ts, A2).
 * B1. What does not count is told: to an update as its verdict, of a signal as an `item.rejected`.
 */
import { condition } from '@temporalio/workflow';
import type { Refusal } from '../core/thread/item.ts';
import type { WaitAnswerOutcome } from '../core/thread/wait-step.ts';
import type { GivenAnswer } from '../core/wait/wait.ts';
import type { WaitWatch } from './wait-watch.ts';

/** As much of a run as stores answers: a thread's, or a task's. */
export interface StoringRun {
  readonly waits: WaitWatch;
  readonly phase: { readonly kind: string };
  readonly activities: {
    answerWait(given: GivenAnswer & { readonly id: string }): Promise<WaitAnswerOutcome>;
  };
}

/** Until the run ends. */
export async function storeAnswersBeside(run: StoringRun): Promise<void> {
  const { waits } = run;
  for (;;) {
    await condition(() => waits.hasBrought && run.phase.kind !== 'opening');
    for (const { judged, ...given } of waits.take()) {
      const outcome = await run.activities.answerWait(given);
      waits.stored();
      // Whatever the verdict: a look in vain does no harm, and heals a signal that was lost.
      waits.hear(given.id);
      judged(outcome);
    }
  }
}

/** B1. Undefined where the answer counts, or did already. */
export function refusalOf(id: string, outcome: WaitAnswerOutcome): Refusal | undefined {
  if (outcome.outcome === 'taken' || outcome.outcome === 'duplicate') return undefined;
  const why = outcome.outcome === 'misfit' ? outcome.reason : OUTCOMES[outcome.outcome];
  return {
    code: 'InvalidMessage',
    reason: `the answer of the wait ${JSON.stringify(id)} does not count: ${why}`,
  };
}

const OUTCOMES = {
  already_answered: 'another answer came first',
  stale: 'something else would be done now than was shown',
  expired: 'its time was up',
  closed: 'nobody waits for it any more',
  unknown: 'there is no such wait',
} as const;
