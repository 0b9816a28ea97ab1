/**
 * Reads from a failed request that it was too long, in the words of each provider: one table. A request that is refused so is never
 * repeated as it is, whatever its status says: waiting does not heal it.
 * - Rows name what only such a refusal says. "Rate limit reached … Requested 900" is another one: it ends with time.
 */
import {
  type FinishReason,
  ProviderError,
  type ProviderRequest,
  type ProviderResponse,
} from '../core/message/provider.ts';
import type { LengthRefusal } from '../core/message/provider-terms.ts';

type Groups = Readonly<Record<string, string | undefined>>;
type Row = readonly [RegExp, Pick<LengthRefusal, 'covers' | 'ofMinute'>?];

const N = String.raw`\d[\d,_]*`;
const row = (text: string, meaning?: Row[1]): Row => [
  new RegExp(
    text
      .replaceAll('LIMIT', `(?<limit>${N})`)
      .replaceAll('ASKED', `(?<requested>${N})`)
      .replaceAll('ANSWER', `(?<answer>${N})`),
    'is',
  ),
  meaning,
];

/** The first row that matches decides; the last ones name no numbers. */
const ROWS: readonly Row[] = [
  // OpenAI, vLLM, OpenRouter and others.
  row('maximum context length is LIMIT tokens.{0,60}?requested (?:about )?ASKED tokens', { covers: 'both' }),
  row(
    'maximum context length is LIMIT tokens.{0,80}?(?:resulted in|has|have|contains?) ASKED (?:input )?tokens',
  ),
  row(
    'passed ASKED input tokens and requested ANSWER output tokens.{0,60}?context length is only LIMIT tokens',
  ),
  // OpenAI and Groq: more tokens than a minute allows at all.
  row('request too large.{0,400}?limit:? LIMIT,? *requested:? ASKED', { covers: 'both', ofMinute: true }),
  // Anthropic.
  row('prompt is too long: ASKED tokens > LIMIT maximum'),
  row('input length and .?max_tokens.? exceed context limit: ASKED \\+ ANSWER > LIMIT'),
  // Gemini.
  row('input token count \\(?ASKED\\)? exceeds the maximum number of (?:input )?tokens allowed \\(?LIMIT'),
  row('input token count exceeds the maximum number of (?:input )?tokens allowed:? \\(?LIMIT'),
  // xAI, Mistral, Cohere, llama.cpp.
  row('maximum prompt length is LIMIT but the request contains ASKED tokens'),
  row('prompt contains ASKED tokens.{0,60}?too large for model with LIMIT maximum context length'),
  row('tokens in the prompt cannot exceed LIMIT.{0,20}?received ASKED'),
  row('request \\(?ASKED tokens\\)? exceeds the available context size \\(?LIMIT'),
  row('exceeds the available context size \\(?LIMIT'),
  row('maximum context length is LIMIT tokens'),
  // Bedrock, codes, and other words for it.
  row('(?:input|prompt) is too long|too many input tokens|input token count.{0,40}exceeds'),
  row('context_length_exceeded|model_context_window_exceeded|exceed_context_size|string_above_max_length'),
  row('exceeds? .{0,40}context (?:length|window|size|limit)|context (?:length|window|size) .{0,20}exceeded'),
  row('request too large for model'),
];

/** Bytes, not tokens: nothing else is known of them, unless the message names a limit. */
const BYTES =
  /request_too_large|(?:request entity|payload|request body|content) too large|request exceeds the maximum size/i;

/** `text`: all that the error says (`textOfError`). Undefined for any other failure. */
export function readLengthRefusal(text: string, status: number | undefined): LengthRefusal | undefined {
  for (const [pattern, meaning] of ROWS) {
    const found = pattern.exec(text);
    if (found) return { unit: 'tokens', ...toNumbers(found.groups ?? {}, meaning) };
  }
  return status === 413 || BYTES.test(text) ? { unit: 'bytes' } : undefined;
}

/** A refusal that a provider's own code has given: undefined if it is none. */
export function toLengthRefusal(given: unknown): LengthRefusal | undefined {
  const { unit, limit, requested, covers } = (given ?? {}) as Partial<LengthRefusal>;
  if (unit !== 'tokens' && unit !== 'bytes') return undefined;
  const isFine = [limit, requested].every((number) => number === undefined || Number.isFinite(number));
  return isFine && (covers === undefined || covers === 'input' || covers === 'both')
    ? (given as LengthRefusal)
    : { unit };
}

function toNumbers({ limit, requested, answer }: Groups, meaning: Row[1]): Omit<LengthRefusal, 'unit'> {
  const [most, asked, reserved] = [toNumber(limit), toNumber(requested), toNumber(answer)];
  if (most === undefined) return {};
  const given = { limit: most, ...(asked === undefined ? {} : { requested: asked + (reserved ?? 0) }) };
  return { ...given, ...(reserved === undefined ? {} : { covers: 'both' }), ...meaning };
}

function toNumber(text: string | undefined): number | undefined {
  const number = Number(text?.replaceAll(/[,_]/g, '') || Number.NaN);
  return Number.isSafeInteger(number) && number > 0 ? number : undefined;
}

/** Anthropic's reason for an end because the window is full; the contract has no word of its own for it. */
const WINDOW_FULL = 'model_context_window_exceeded';

export function isWindowFull(reason: unknown): boolean {
  return reason === WINDOW_FULL;
}

export function windowFilled(): ProviderError {
  const message =
    'The answer is empty: the request has filled the context window of the model, which left no token for it.';
  return new ProviderError(message, 'invalid_request', undefined, undefined, { tooLong: { unit: 'tokens' } });
}

/**
 * An answer that reached its length before its first token: the input has filled the window. If the model has thought,
 * or has used all tokens that it was allowed, the answer's own limit ended it.
 */
export function refusedByLength(
  { content, reasoning, toolCalls = [], images = [], finishReason, usage }: ProviderResponse,
  { maxOutputTokens = Number.POSITIVE_INFINITY }: Pick<ProviderRequest, 'maxOutputTokens'>,
): boolean {
  if (finishReason !== ('length' satisfies FinishReason) && !isWindowFull(finishReason)) return false;
  if ((content ?? '').trim() !== '' || reasoning || toolCalls.length > 0 || images.length > 0) return false;
  return !usage?.reasoningTokens && (usage?.completionTokens ?? 0) < maxOutputTokens;
}
