/**
 * Tells that no answer has begun, once while one is asked for, whichever attempt is to bring it; and not behind the beginning of one,
 * also where that attempt has failed since.
 */
import type { AttemptLimits } from './attempt-plan.ts';

/** `Start`: the attempt that is told of. */
export interface Feedback<Start> {
  begin(start: Start, limits: Pick<AttemptLimits, 'feedbackMs'>): void;
  /** Begun: an answer has. Else the attempt is over. */
  end(begun: boolean): void;
}

export function createFeedback<Start>(onWaiting?: (start: Start) => void): Feedback<Start> {
  let done = onWaiting === undefined;
  let timer: NodeJS.Timeout | undefined;
  const tell = (start: Start) => {
    done = true;
    onWaiting?.(start);
  };
  return {
    begin(start, { feedbackMs }) {
      if (!done) timer = setTimeout(tell, feedbackMs, start);
    },
    end(begun) {
      clearTimeout(timer);
      done ||= begun;
    },
  };
}
