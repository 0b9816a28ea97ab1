/** Measures, assembles and reports the chunks of an answer, whether it is whole or streamed. */
import type { ProviderRequest, ProviderStreamChunk } from '../core/message/provider.ts';
import { createAccumulator } from './accumulate.ts';
import { createAnswerMeter } from './answer-meter.ts';
import { readChunk } from './read-chunk.ts';

/** `input`: the arguments of a call. */
export type DeltaKind = 'content' | 'reasoning' | 'input';

export interface StreamedCall {
  readonly callId: string;
  readonly name: string;
}

/** `call`: with `input`. */
export type OnDelta = (kind: DeltaKind, delta: string, call?: StreamedCall) => void;

export function createAnswerReader(request: ProviderRequest, { onDelta }: { readonly onDelta: OnDelta }) {
  const accumulator = createAccumulator();
  const meter = createAnswerMeter();
  const names = new Map<string, string>();

  function report(chunk: ProviderStreamChunk): void {
    if (chunk.type === 'content-delta') onDelta('content', chunk.delta);
    else if (chunk.type === 'reasoning-delta' && !request.reasoning?.exclude)
      onDelta('reasoning', chunk.delta);
    else if (chunk.type === 'tool-call-start') names.set(chunk.id, chunk.name);
    else if (chunk.type === 'tool-call-delta') {
      const { id: callId, argumentsDelta } = chunk;
      const name = names.get(callId);
      // A call without an id gets one with the answer, and one that names nothing is dropped.
      if (callId !== '' && name && !/^\s*(none)?\s*$/i.test(name))
        onDelta('input', argumentsDelta, { callId, name });
    }
  }

  return {
    /** Adds one chunk and returns its kind. */
    take(value: unknown): string {
      const chunk = readChunk(value);
      if (typeof chunk === 'string') {
        accumulator.ignore(chunk);
        return chunk;
      }
      meter.add(chunk);
      accumulator.add(chunk);
      report(chunk);
      return chunk.type;
    },
    end: () => ({ response: accumulator.response(), ignored: accumulator.ignored }),
  };
}
