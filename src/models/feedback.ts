/**
 * Reports that no answer has begun within `feedbackMs`: at most once over all attempts of a step, and never after an
 * answer has begun, even if that attempt has failed since.
 */
import type { AttemptLimits } from './attempt-plan.ts';

/** `Start`: the description of the attempt that is reported. */
export interface Feedback<Start> {
  begin(start: Start, limits: Pick<AttemptLimits, 'feedbackMs'>): void;
  /** `begun`: true if an answer has begun, false if the attempt is over. */
  end(begun: boolean): void;
}

export function createFeedback<Start>(onWaiting?: (start: Start) => void): Feedback<Start> {
  let done = onWaiting === undefined;
  let timer: NodeJS.Timeout | undefined;
  const report = (start: Start) => {
    done = true;
    onWaiting?.(start);
  };
  return {
    begin(start, { feedbackMs }) {
      if (!done) timer = setTimeout(report, feedbackMs, start);
    },
    end(begun) {
      clearTimeout(timer);
      done ||= begun;
    },
  };
}
