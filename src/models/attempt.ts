/**
 * Makes one request to one model and reads its whole answer, streamed if the model can stream (definitions §5).
 * A failure is a value; only an abort is thrown, with the signal's reason.
 */

import type { ModelDefinition } from '../core/author/definition.ts';
import { prepareManifest } from '../core/context/context-manifest.ts';
import { estimateMissing } from '../core/context/usage-estimate.ts';
import {
  type FinishReason,
  type Provider,
  ProviderError,
  type ProviderRequest,
  type ProviderResponse,
} from '../core/message/provider.ts';
import { leavesCacheOut, normaliseUsage } from '../core/message/usage.ts';
import { LIMITS } from '../core/value/limit.ts';
import { toReadable } from '../core/value/thrown.ts';
import { invalidAnswer } from './answer-failure.ts';
import { createAnswerReader, type OnDelta } from './answer-reader.ts';
import type { AttemptLimits } from './attempt-plan.ts';
import { classifyError } from './classify.ts';
import { isWindowFull, refusedByLength, windowFilled } from './length-refusal.ts';
import { type OpenedProvider, openProvider, type ProviderTools } from './open-provider.ts';
import {
  describeHowToSet,
  type ProviderSettings,
  settingsFor,
  type VariableLookup,
} from './provider-config.ts';
import { toChunks } from './read-chunk.ts';
import { listEnvironmentKeys } from './redact.ts';
import { createStallGuard, type StallGuard } from './stall-guard.ts';

/**
 * `model`: completed with the capabilities that its provider reported. `tools`: those that the provider runs itself.
 */
export type ToRequest = (model: ModelDefinition, tools: ProviderTools) => ProviderRequest;

export interface Attempt {
  readonly model: ModelDefinition;
  readonly request: ToRequest;
  /** Looks up the variables that are settings of the model's provider. */
  readonly variable?: VariableLookup;
  readonly signal: AbortSignal;
  readonly limits: AttemptLimits;
  /** Request timeout for the provider, in milliseconds. */
  readonly requestTimeoutMs: number;
  /** True if the whole answer is requested at once, although the model can stream. */
  readonly plain?: boolean;
  /** Called with the request as the provider gets it. */
  readonly onRequest?: (request: ProviderRequest) => void;
  /** Called once, when the answer begins. */
  readonly onBegin?: () => void;
  readonly onDelta: OnDelta;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export type AttemptResult = ({ readonly ok: true } & Answer) | FailedAnswer;

export interface FailedAnswer {
  readonly ok: false;
  readonly error: ProviderError;
  readonly stalled: boolean;
  readonly brokeStream: boolean;
}

interface Answer {
  readonly response: ProviderResponse;
  /** Arrival of the first chunk, or of the whole answer if it was not streamed; milliseconds since 1970. */
  readonly firstTokenAt: number;
  /** Kinds of chunks that the response leaves out. */
  readonly ignored: readonly string[];
  /** Set if the provider reported its cached tokens beside `promptTokens`: its report breaks the contract. */
  readonly leftCacheOut?: true;
}

export async function runAttempt(attempt: Attempt): Promise<AttemptResult> {
  const { signal, model, now } = attempt;
  const halt = new AbortController();
  let settings: ProviderSettings | undefined;
  let asked: RequestProgress | undefined;
  try {
    settings = settingsFor(model, attempt.requestTimeoutMs, attempt.variable);
    const met = await openProvider(model, settings, createStallGuard(signal));
    signal.throwIfAborted();
    const abort = AbortSignal.any([signal, halt.signal]);
    const request = { ...attempt.request(met.model, met.tools), signal: abort };
    attempt.onRequest?.(request);
    asked = beginRequest(met, request, attempt);
    const answer = await readAnswer(asked, attempt);
    const { response } = answer;
    return {
      ok: true,
      ...answer,
      response: withoutExcluded(toPlausible(response, request), request),
      ...(leavesCacheOut(response.usage) ? { leftCacheOut: true } : {}),
    };
  } catch (error) {
    // Closes the connection of a request that has been given up.
    halt.abort();
    signal.throwIfAborted();
    // Backends may have read keys from the environment themselves.
    const secrets = [...listEnvironmentKeys(process.env), ...(settings?.secrets ?? [])];
    const failure = classifyError(toReadable(error), { now: now(), secrets });
    return { ok: false, error: withKeyAdvice(failure, settings), ...toStreamState(asked) };
  }
}

/** A request and the progress of its answer; the meaning of a failure depends on both. */
interface RequestProgress {
  readonly provider: Provider;
  readonly request: ProviderRequest;
  readonly guard: StallGuard;
  readonly streamed: boolean;
  /** True once the provider has begun to send a stream. */
  opened: boolean;
}

function beginRequest(
  { provider, model }: OpenedProvider,
  request: ProviderRequest,
  attempt: Attempt,
): RequestProgress {
  const streamed = !attempt.plain && model.capabilities.supportsStreaming !== false;
  const who = `The model "${model.name}" (${model.model} of ${provider.name})`;
  return { provider, request, streamed, opened: false, guard: createStallGuard(attempt.signal, who) };
}

function toStreamState(asked: RequestProgress | undefined): Pick<FailedAnswer, 'stalled' | 'brokeStream'> {
  if (!asked) return { stalled: false, brokeStream: false };
  const { guard, streamed, opened } = asked;
  return { stalled: guard.stalled, brokeStream: streamed && (guard.stalled || opened) };
}

/** Adds to an auth error how to set the key, if none was given: the provider cannot know where it is configured. */
function withKeyAdvice(error: ProviderError, settings: ProviderSettings | undefined): ProviderError {
  const { code, statusCode, retryAfter, cause, message, tooLong } = error;
  if (code !== 'auth_error' || settings?.missingKey === undefined) return error;
  const advice = `No key was provided. ${describeHowToSet(settings.missingKey)}`;
  return new ProviderError(`${message} ${advice}`, code, statusCode, retryAfter, { cause, tooLong });
}

async function readAnswer(asked: RequestProgress, attempt: Attempt): Promise<Answer> {
  const answer = await (asked.streamed ? readStream : readWhole)(asked, attempt);
  if (refusedByLength(answer.response, asked.request)) throw windowFilled();
  if (answer.response.finishReason !== 'error') return answer;
  throw new ProviderError('The provider ended its answer with the finish reason "error".', 'server_error');
}

type Read = (asked: RequestProgress, attempt: Attempt) => Promise<Answer>;

const readWhole: Read = async ({ provider, request, guard }, attempt) => {
  const { limits, now } = attempt;
  // Wrapped in an async function: foreign code may throw synchronously or return something other than a promise.
  const response: unknown = await guard.race(
    (async () => provider.generate(request))(),
    limits.generateMs,
    'answer',
  );
  attempt.onBegin?.();
  const reading = createAnswerReader(request, attempt);
  // Live readers see the same events whether or not a model can stream.
  for (const chunk of toChunks(response)) reading.take(chunk);
  return { ...reading.end(), firstTokenAt: now() };
};

const readStream: Read = async (asked, attempt) => {
  const { limits, now } = attempt;
  const reading = createAnswerReader(asked.request, attempt);
  const deadline = asked.guard.until(limits.totalMs, 'end of the answer');
  const opened = await deadline.race(openStream(asked), limits.firstChunkMs, 'first chunk');
  attempt.onBegin?.();
  const firstTokenAt = now();
  let step = opened.first;
  try {
    while (!isEnd(step)) {
      // Does not wait for the end of the iteration: nothing follows `finish`, and a socket may stay open.
      if (reading.take(step.value) === 'finish') break;
      step = await deadline.race(
        Promise.resolve(opened.iterator.next()),
        limits.betweenChunksMs,
        'further chunk',
      );
    }
    return { ...reading.end(), firstTokenAt };
  } finally {
    // Not awaited: an iterator that hangs in next() would hang here too.
    void closeStream(opened.iterator);
  }
};

async function openStream(asked: RequestProgress) {
  const chunks: unknown = await asked.provider.stream(asked.request);
  asked.opened = true;
  const open = (chunks as Partial<AsyncIterable<unknown>> | null | undefined)?.[Symbol.asyncIterator];
  if (typeof open !== 'function')
    throw invalidAnswer('The provider answered with a stream that is not an async iterable');
  const iterator: AsyncIterator<unknown> = open.call(chunks);
  return { iterator, first: await iterator.next() };
}

async function closeStream(iterator: AsyncIterator<unknown>): Promise<void> {
  try {
    await iterator.return?.();
  } catch {
    // The answer is complete, or its failure is known.
  }
}

function isEnd(step: unknown): boolean {
  if (typeof step !== 'object' || step === null)
    throw invalidAnswer('The provider answered with a stream that is not an iterator');
  return (step as IteratorResult<unknown>).done === true;
}

/** Removes reasoning that the request excludes, for providers that cannot leave it out. */
function withoutExcluded(response: ProviderResponse, request: ProviderRequest): ProviderResponse {
  if (!request.reasoning?.exclude) return response;
  const { reasoning: _, reasoningDetails: _details, ...bare } = response;
  return bare;
}

const FINISH_REASONS: ReadonlySet<unknown> = new Set<FinishReason>([
  'stop',
  'tool_calls',
  'length',
  'content_filter',
  'error',
]);

/**
 * Makes a provider's report on its answer plausible: its usage is normalised, a finish reason is one of the known
 * words, an id is short. The answer itself is kept.
 */
function toPlausible(response: ProviderResponse, request: ProviderRequest): ProviderResponse {
  const { finishReason, usage, responseId, toolCalls = [], ...rest } = response;
  const ended = toolCalls.length > 0 ? 'tool_calls' : 'stop';
  return {
    ...rest,
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
    finishReason: FINISH_REASONS.has(finishReason)
      ? finishReason
      : isWindowFull(finishReason)
        ? 'length'
        : ended,
    usage: estimateMissing(
      normaliseUsage(usage),
      response,
      () => prepareManifest(request).totalEstimatedTokens,
    ),
    ...(typeof responseId === 'string' ? { responseId: responseId.slice(0, LIMITS.responseIdChars) } : {}),
  };
}
