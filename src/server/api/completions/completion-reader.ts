/** Converts a response to chunks for OpenAI's clients. */
import type { CompletionCall, CompletionOutput } from '../../../projections/openai/completion-chunk.ts';
import {
  endAtWait,
  joinCompletion,
  openingChunks,
  projectCompletion,
} from '../../../projections/openai/completion-projection.ts';
import { beginCompletion, type CompletionReading } from '../../../projections/openai/completion-state.ts';
import type { Conversation } from '../conversation/conversation.ts';
import type { ResponseReader } from '../turn/reading.ts';
import type { GiveResult } from '../turn/turn.ts';

export interface CompletionTerms {
  readonly model: string;
  /** True if text is output only once it is committed, so that none of it is discarded later. */
  readonly whole: boolean;
  /** True if the client parses the answer: only JSON that fits its type is output. */
  readonly parsed: boolean;
  readonly threadId: string;
  readonly nameOf: Conversation['nameOf'];
  /** Called if the answer ends at a wait: the rest follows. */
  readonly onWait: () => void;
  /** Set if the request has results of the client's calls. */
  readonly give?: GiveResult | undefined;
}

export function completionReader({
  model,
  whole,
  parsed,
  threadId,
  nameOf,
  give,
  onWait,
}: CompletionTerms): ResponseReader<CompletionReading, CompletionOutput> {
  return {
    begin: beginCompletion({ model, whole, parsed, threadId }),
    project: projectCompletion,
    openOf: ({ open }) => open,
    enter(reading, { seq }, joins) {
      const entered = joins ? joinCompletion(reading, seq) : reading;
      return [entered, openingChunks(entered)];
    },
    async atWait(reading, isTold) {
      for (const [waitId, callId] of Object.entries(reading.open?.clientWaits ?? {}))
        if (await give?.(waitId, callId)) return [];
      onWait();
      if (isTold) return withOwnNames(endAtWait(reading), nameOf);
      // Nothing that the execution has output before belongs to this answer.
      const entered = joinCompletion(reading);
      return [...openingChunks(entered), ...withOwnNames(endAtWait(entered), nameOf)];
    },
    failed: (failed) => [{ failed }],
    terminated: [{ failed: { code: 'ThreadTerminated', message: 'The thread was terminated.' } }],
  };
}

/** Renames the calls of a client's tools to its own names. */
function withOwnNames(
  outs: readonly CompletionOutput[],
  nameOf: (told: string) => string,
): readonly CompletionOutput[] {
  const rename = ({ function: called, ...call }: CompletionCall): CompletionCall => ({
    ...call,
    function: { ...called, name: nameOf(called.name) },
  });
  return outs.map((out) => {
    if ('failed' in out) return out;
    const choices = out.choices.map(({ delta, ...choice }) => {
      const calls = delta.tool_calls?.map(rename);
      return { ...choice, delta: calls ? { ...delta, tool_calls: calls } : delta };
    });
    return { ...out, choices };
  });
}
