/** The steps of a task as its adapter reads them in `history`, and its caller in the result. */
import type { TaskStep } from './task.ts';

/** A step as it is stored: its state is what was observed before it acted. */
interface StoredTaskStep extends Pick<TaskStep, 'endedAt' | 'startedAt'> {
  readonly step: number;
  readonly state: unknown;
  readonly evals: TaskStep['evalsBefore'];
  readonly decision: TaskStep['decision'] | null;
  readonly outcome: NonNullable<TaskStep['actionOutcome']> | null;
}

/**
 * Returns the steps before this one, each with what was observed after it. `steps` are consecutive, oldest first; the
 * times of stored steps are in microseconds.
 */
export function toHistory(steps: readonly StoredTaskStep[], before: number): TaskStep[] {
  return steps.flatMap((each, index) => {
    if (each.step >= before || !each.decision) return [];
    const next = steps[index + 1];
    return [
      {
        index: each.step,
        decision: each.decision,
        beforeState: each.state,
        evalsBefore: each.evals,
        ...(next ? { afterState: next.state, evalsAfter: next.evals } : {}),
        ...(each.outcome ? { actionOutcome: each.outcome } : {}),
        startedAt: Math.round(each.startedAt / 1000),
        endedAt: each.endedAt === null ? null : Math.round(each.endedAt / 1000),
      },
    ];
  });
}
