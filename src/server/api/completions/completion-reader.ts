/** How a response is told to OpenAI's clients. */
import type { CompletionOut } from '../../../projections/openai/completion-chunk.ts';
import {
  endAtWait,
  joinCompletion,
  openingOf,
  projectCompletion,
} from '../../../projections/openai/completion-projection.ts';
import { beginCompletion, type CompletionReading } from '../../../projections/openai/completion-state.ts';
import type { ResponseReader } from '../chat/response-reading.ts';

/** `whole`: text is told once it is committed, so that none of it is ever given up. */
export function completionReader(
  model: string,
  whole: boolean,
): ResponseReader<CompletionReading, CompletionOut> {
  return {
    begin: beginCompletion(model, whole),
    project: projectCompletion,
    openOf: ({ open }) => open,
    enter(reading, { seq }, joins) {
      const entered = joins ? joinCompletion(reading, seq) : reading;
      return [entered, openingOf(entered)];
    },
    atWait(reading, isTold) {
      if (isTold) return endAtWait(reading);
      // Of what the execution has said before nothing is this answer's.
      const entered = joinCompletion(reading);
      return [...openingOf(entered), ...endAtWait(entered)];
    },
    failed: (failed) => [{ failed }],
    terminated: [{ failed: { code: 'ThreadTerminated', message: 'The thread was terminated.' } }],
  };
}
