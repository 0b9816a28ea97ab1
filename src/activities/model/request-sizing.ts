/**
 * Sizes the requests of one step to what each model can hold: before they are sent, by an estimate that earlier reports correct, and
 * after a refusal, by what that says.
 * - Fitting chooses among the messages of the request (core/context/fit-messages.ts); what is stored stays whole.
 * - Within a step the ratio stays the same, so that sizes can be compared. What is learned counts from the next step
 *   on.
 */
import type { ModelDefinition } from '../../core/author/definition.ts';
import {
  CUT_SHARE,
  estimateOffered,
  estimateProviderMessage,
  estimateRequest,
} from '../../core/context/context-estimate.ts';
import { answerRoom, inputRoom } from '../../core/context/context-room.ts';
import { type FittedMessages, fitMessages, type ToolMessage } from '../../core/context/fit-messages.ts';
import { bytesOf } from '../../core/context/message-text.ts';
import {
  type CountedRequest,
  learnCount,
  type ModelCounts,
  measureRequest,
  readCount,
} from '../../core/context/model-count.ts';
import { shrink, shrinkAnswer } from '../../core/context/shrink.ts';
import { charactersPerToken } from '../../core/context/token-ratio.ts';
import type { ProviderMessage, ProviderRequest, ProviderUsage } from '../../core/message/provider.ts';
import type { LengthRefusal } from '../../core/message/provider-terms.ts';
import { forgetWindow, keepRatio, keepWindow, learnedRatio, windowOf } from '../../models/learned-facts.ts';

export interface RequestSizing {
  /** Characters of a token; undefined if only the script of a text can tell. */
  ratio(model: ModelDefinition): number | undefined;
  /** The request as the model can hold it. */
  fit(model: ModelDefinition, request: ProviderRequest): ProviderRequest;
  /** Results that `fit` would cut, whole. */
  cutResults(model: ModelDefinition, request: ProviderRequest): readonly ToolMessage[];
  /** Makes the requests to this model smaller. False if nothing more can be left out. */
  tooLong(model: ModelDefinition, refusal: LengthRefusal): boolean;
  /** How many messages the last request has left out. */
  dropped(): number;
  /** What the last request to the model has shown, once it has ended. */
  counted(model: ModelDefinition, usage?: ProviderUsage): ModelCounted | undefined;
}

export type ModelCounted = CountedRequest & { readonly model: string };

/** What is known of one model in the step. */
interface Sizes {
  /** Tokens, and bytes, that a refusal has left for the whole input. */
  tokens?: number;
  bytes?: number;
  /** Tokens that a refusal has left for the answer. */
  answer?: number;
  refusals: number;
  longest: number | undefined;
  /** The last request, as it was given and as it was sent. */
  given?: ProviderRequest;
  sent?: ProviderRequest;
  /** Tokens that a refusal has counted of the last request. */
  named?: number | undefined;
}

/** `nameOf`: the file that has a whole result; undefined if there is none. */
export function createSizing(
  counts: ModelCounts = {},
  nameOf: (result: ToolMessage) => string | undefined = () => undefined,
): RequestSizing {
  const known = new Map<string, Sizes>();
  let dropped = 0;
  const sizesOf = ({ name }: ModelDefinition): Sizes => {
    const sizes = known.get(name) ?? { refusals: 0, longest: counts[name]?.longest };
    known.set(name, sizes);
    return sizes;
  };
  const ratioOf = (model: ModelDefinition) => counts[model.name]?.ratio ?? learnedRatio(model);
  const size = (model: ModelDefinition, request: ProviderRequest) =>
    sizeRequest(request, { ...sizesOf(model), ratio: ratioOf(model), window: windowOf(model), nameOf });
  return {
    ratio: ratioOf,
    fit(model, request) {
      const sizes = sizesOf(model);
      const { request: sent, longest } = size(model, request);
      dropped = request.messages.length - sent.messages.length;
      Object.assign(sizes, { given: request, sent, longest: longest ?? sizes.longest, named: undefined });
      return sent;
    },
    dropped: () => dropped,
    cutResults: (model, request) => size(model, request).cut,
    tooLong(model, refusal) {
      const sizes = sizesOf(model);
      if (!(sizes.given && sizes.sent)) return false;
      const weigh = (request: ProviderRequest) =>
        refusal.unit === 'bytes' ? bytesOfAll(request) : estimateRequest(request, ratioOf(model));
      const before = weigh(sizes.sent);
      noteRefusal(sizes, refusal, before);
      if (refusal.limit !== undefined && refusal.unit === 'tokens' && !refusal.ofMinute)
        keepWindow(model, refusal.limit);
      const next = size(model, sizes.given).request;
      return weigh(next) < before || answerOf(next) < answerOf(sizes.sent);
    },
    counted(model, usage) {
      const { sent, named, longest } = sizesOf(model);
      if (!sent) return undefined;
      // An estimate of ours teaches nothing.
      const tokens = usage ? (usage.estimated ? undefined : usage.promptTokens) : named;
      const counted = {
        ...toCount(sent, tokens, ratioOf(model)),
        ...(longest === undefined ? {} : { longest }),
      };
      if (usage && tokens !== undefined) forgetWindow(model, tokens);
      const { ratio } = learnCount(counts[model.name], counted);
      if (ratio !== undefined && counted.report) keepRatio(model, ratio);
      return Object.keys(counted).length === 0 ? undefined : { model: model.name, ...counted };
    },
  };
}

function toCount(
  sent: ProviderRequest,
  tokens: number | undefined,
  ratio: number | undefined,
): CountedRequest {
  return tokens === undefined ? {} : readCount(measureRequest(sent), tokens, ratio);
}

function noteRefusal(sizes: Sizes, refusal: LengthRefusal, size: number): void {
  const { maxOutputTokens: answer = 0 } = sizes.sent as ProviderRequest;
  const left = shrink(refusal, { before: sizes.refusals, answer, size });
  sizes.refusals += 1;
  if (refusal.unit === 'bytes') {
    sizes.bytes = left;
    return;
  }
  sizes.tokens = left;
  if (answer > 0) sizes.answer = shrinkAnswer(refusal, answer);
  if (refusal.requested !== undefined)
    sizes.named = refusal.requested - (refusal.covers === 'both' ? answer : 0);
}

interface SizeTerms extends Pick<Sizes, 'tokens' | 'bytes' | 'answer' | 'longest'> {
  readonly ratio: number | undefined;
  readonly window: number | undefined;
  readonly nameOf: (result: ToolMessage) => string | undefined;
}

interface SizedRequest {
  readonly request: ProviderRequest;
  readonly longest?: number;
  readonly cut: readonly ToolMessage[];
}

function sizeRequest(given: ProviderRequest, terms: SizeTerms): SizedRequest {
  const { ratio, window, tokens, bytes, longest } = terms;
  const answer = answerRoom(
    window ?? Number.POSITIVE_INFINITY,
    Math.min(answerOf(given), terms.answer ?? Number.POSITIVE_INFINITY),
  );
  const request = answer < answerOf(given) ? { ...given, maxOutputTokens: answer } : given;
  const limit = tokens ?? (window === undefined ? Number.POSITIVE_INFINITY : inputRoom(window, answer));
  if (longest === undefined && bytes === undefined && fitsSurely(request, ratio, limit))
    return { request, cut: [] };
  const around = estimateOffered(request, ratio);
  const mark = markWith(terms.nameOf);
  const fitted = fitMessages(request.messages, {
    room: limit - around,
    longest,
    mark,
    weigh: (message) => estimateProviderMessage(message, ratio),
    firstLongest: (text, free) => Math.floor(free * CUT_SHARE * (ratio ?? charactersPerToken(text))),
  });
  if (bytes === undefined) return withRoom(request, fitted, ratio, limit);
  const smaller = fitMessages(fitted.messages, {
    room: bytes,
    weigh: bytesOf,
    longest: fitted.longest,
    mark,
    firstLongest: (_, free) => Math.floor(free * CUT_SHARE),
  });
  return { ...withRoom(request, smaller, ratio, limit), cut: [...fitted.cut, ...smaller.cut] };
}

/** True if the request fits even if each character is a token: no text has to be looked at. */
function fitsSurely(request: ProviderRequest, ratio: number | undefined, limit: number): boolean {
  return limit === Number.POSITIVE_INFINITY || estimateRequest(request, Math.min(1, ratio ?? 1)) <= limit;
}

/** Tokens of an answer below which it would break off before it says anything: no request is sent for fewer. */
const LEAST_ANSWER = 128;

/** If not even what must be sent has room beside the answer, the answer gets less. */
function withRoom(
  request: ProviderRequest,
  { messages, longest, cut, fits }: FittedMessages,
  ratio: number | undefined,
  limit: number,
): SizedRequest {
  const sized = messages === request.messages ? request : { ...request, messages };
  const over = fits ? 0 : estimateRequest(sized, ratio) - limit;
  const answer = answerOf(request);
  const less = Math.max(answer - over, Math.ceil(answer / 8), Math.min(answer, LEAST_ANSWER));
  const sent = over > 0 && answer < Number.POSITIVE_INFINITY ? { ...sized, maxOutputTokens: less } : sized;
  return { request: sent, cut, longest };
}

const answerOf = ({ maxOutputTokens = Number.POSITIVE_INFINITY }: ProviderRequest) => maxOutputTokens;

function bytesOfAll({ messages }: ProviderRequest): number {
  return messages.reduce((sum, each) => sum + bytesOf(each), 0);
}

function markWith(nameOf: SizeTerms['nameOf']) {
  return (omitted: number, message: ProviderMessage): string => {
    const path = message.role === 'tool' ? nameOf(message) : undefined;
    const rest = path === undefined ? 'They cannot be read.' : `The whole result is in the file ${path}.`;
    return `\n[${omitted} characters are left out here: they do not fit into the context window. ${rest}]\n`;
  };
}
