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
    atWait: endAtWait,
    failed: (failed) => [{ failed }],
    terminated: [{ failed: { code: 'ThreadTerminated', message: 'The thread was terminated.' } }],
  };
}
