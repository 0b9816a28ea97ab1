/**
 * Makes one request to one model and reads its whole answer, streamed where the model can (definitions §5).
 * A failure is a value; only an abort is thrown, with the signal's reason.
 */
import type { ModelDefinition } from '../core/author/definition.ts';
import {
  type Provider,
  ProviderError,
  type ProviderRequest,
  type ProviderResponse,
  type ProviderStreamChunk,
} from '../core/message/provider.ts';
import { toReadable } from '../core/value/thrown.ts';
import { createAccumulator } from './accumulate.ts';
import { checkAnswer, createAnswerMeter } from './answer-meter.ts';
import type { AttemptLimits } from './attempt-plan.ts';
import { classifyError } from './classify.ts';
import { toPlausible } from './plausible.ts';
import { listEnvironmentKeys } from './redact.ts';
import { createStallGuard, type StallGuard } from './stall-guard.ts';

export type DeltaKind = 'content' | 'reasoning';

export interface Attempt {
  readonly model: ModelDefinition;
  readonly request: ProviderRequest;
  readonly signal: AbortSignal;
  readonly limits: AttemptLimits;
  readonly onDelta: (kind: DeltaKind, delta: string) => void;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export type AttemptResult =
  /** `firstTokenAt` in milliseconds since 1970: the first text, reasoning or tool call of the answer. */
  | { readonly ok: true; readonly response: ProviderResponse; readonly firstTokenAt: number }
  | { readonly ok: false; readonly error: ProviderError; readonly stalled: boolean };

/** One provider per definition and process: a provider holds a connection pool. */
const providers = new WeakMap<ModelDefinition, Provider>();

/** The provider of a model, made at its first use. Throws what the factory throws; the next call tries again. */
export function providerOf(model: ModelDefinition): Provider {
  const known = providers.get(model);
  if (known !== undefined) return known;
  // Factories of `everthread/models` configure their own key.
  const provider = model.provider({ apiKey: '' });
  providers.set(model, provider);
  return provider;
}

export async function runAttempt(attempt: Attempt): Promise<AttemptResult> {
  const { signal, model, now } = attempt;
  const guard = createStallGuard(signal);
  const halt = new AbortController();
  const request = { ...attempt.request, signal: AbortSignal.any([signal, halt.signal]) };
  const streamed = model.capabilities.supportsStreaming !== false;
  try {
    const provider = providerOf(model);
    const read = streamed ? readStream : readWhole;
    const answer = await read(provider, request, guard, attempt);
    if (answer.response.finishReason === 'error') {
      throw new ProviderError(
        'The provider ended its answer with the finish reason "error".',
        'server_error',
      );
    }
    return { ok: true, ...answer, response: withoutExcluded(toPlausible(answer.response), request) };
  } catch (error) {
    // Closes the connection of a request that has been given up.
    halt.abort();
    signal.throwIfAborted();
    // Backends may have read keys from the environment themselves.
    const secrets = listEnvironmentKeys(process.env);
    return {
      ok: false,
      error: classifyError(toReadable(error), { now: now(), secrets }),
      stalled: guard.stalled,
    };
  }
}

interface Answer {
  readonly response: ProviderResponse;
  readonly firstTokenAt: number;
}

type Read = (
  provider: Provider,
  request: ProviderRequest,
  guard: StallGuard,
  attempt: Attempt,
) => Promise<Answer>;

const readWhole: Read = async (provider, request, guard, { limits, onDelta, now }) => {
  const response = await guard.race(provider.generate(request), limits.generateMs, 'answer');
  checkAnswer(response);
  // Live readers see the same events whether or not a model can stream.
  if (response.content) onDelta('content', response.content);
  return { response, firstTokenAt: now() };
};

const readStream: Read = async (provider, request, guard, attempt) => {
  const { limits, now } = attempt;
  const accumulator = createAccumulator();
  const meter = createAnswerMeter();
  const deadline = guard.until(limits.totalMs, 'end of the answer');
  const opened = await deadline.race(openStream(provider, request), limits.firstChunkMs, 'first chunk');
  const firstTokenAt = now();
  let step = opened.first;
  try {
    while (!step.done) {
      meter.add(step.value);
      accumulator.add(step.value);
      // Does not wait for the end of the iteration: nothing follows `finish`, and a socket may stay open.
      if (step.value.type === 'finish') break;
      report(step.value, attempt);
      step = await deadline.race(opened.iterator.next(), limits.betweenChunksMs, 'further chunk');
    }
    return { response: accumulator.response(), firstTokenAt };
  } finally {
    // Not awaited: an iterator that hangs in next() would hang here too.
    opened.iterator.return?.().catch(() => undefined);
  }
};

async function openStream(provider: Provider, request: ProviderRequest) {
  const chunks = await provider.stream(request);
  const iterator = chunks[Symbol.asyncIterator]();
  return { iterator, first: await iterator.next() };
}

function report(chunk: ProviderStreamChunk, { request, onDelta }: Attempt): void {
  if (chunk.type === 'content-delta') onDelta('content', chunk.delta);
  else if (chunk.type === 'reasoning-delta' && !request.reasoning?.exclude) onDelta('reasoning', chunk.delta);
}

/** Removes reasoning that the provider could not be told to leave out. */
function withoutExcluded(response: ProviderResponse, request: ProviderRequest): ProviderResponse {
  if (!request.reasoning?.exclude) return response;
  const { reasoning: _, ...bare } = response;
  return bare;
}
