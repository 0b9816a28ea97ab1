/**
 * Stores answers that signals and updates have delivered, concurrently with the loop, which may be waiting for one of
 * them (wait-watch.ts, A2).
 * B1. An answer that does not count is reported: to an update as its verdict, for a signal as an `item.rejected`.
 */
import { condition } from '@temporalio/workflow';
import type { Refusal } from '../core/thread/item.ts';
import type { WaitAnswerOutcome } from '../core/thread/wait-step.ts';
import type { BoundActivities } from './activities.ts';
import type { WaitWatch } from './wait-watch.ts';

/** The part of a thread's or a task's run that is needed to store answers. */
export interface StoringRun {
  readonly waits: WaitWatch;
  readonly phase: { readonly kind: string };
  readonly activities: Pick<BoundActivities, 'answerWait'>;
}

/** Runs until the workflow run ends. */
export async function runAnswerLoop(run: StoringRun): Promise<void> {
  const { waits } = run;
  for (;;) {
    await condition(() => waits.hasBrought && run.phase.kind !== 'opening');
    for (const { judged, ...given } of waits.take()) {
      const outcome = await run.activities.answerWait(given, `answer of ${given.id}`);
      waits.stored();
      // Whatever the verdict: an unnecessary check is harmless, and makes up for a lost signal.
      waits.receive(given.id);
      judged(outcome);
    }
  }
}

/** B1. Undefined if the answer counts, or the same answer was counted before. */
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
