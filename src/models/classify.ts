/**
 * Classifies a failed model request: whatever a backend threw becomes one ProviderError (definitions §5.5).
 * Errors are recognised by shape, not by class: those of the openai SDK, of the AI SDK, of fetch and of sockets, aborts,
 * plain objects from the middle of a stream, and ProviderErrors, which pass unchanged.
 * - A message never contains an API key: providers echo them.
 * - The original error is not kept when it has an HTTP answer: it contains the request body and, in its
 *   message, possibly the key. Code and status are kept, the other facts as `AnswerFacts`.
 * - Only readable fields that are texts or numbers are used: a backend may throw any value.
 */
import { ProviderError, type ProviderErrorCode } from '../core/message/provider.ts';
import { errorMessage, readField } from '../core/value/thrown.ts';
import { readLengthRefusal, toLengthRefusal } from './length-refusal.ts';
import { redactKeys } from './redact.ts';
import { type ReadRefusal, type Refusal, readRefusal, refusalOf, textOfError } from './refusal.ts';

/** The `cause` of a ProviderError that came from an HTTP answer. */
export interface AnswerFacts {
  /** Name of the error that the backend's library threw. */
  readonly thrown: string;
  /** The header `x-should-retry`, which overrides the status. */
  readonly shouldRetry?: boolean;
  readonly requestId?: string;
  /** What the provider means by it, if it refuses more than this request. */
  readonly refusal?: Refusal;
}

export interface ClassifyOptions {
  /** Milliseconds since 1970, to turn a `retry-after` date into seconds. */
  readonly now: number;
  /** Texts that must not appear in the message, such as the key in use. */
  readonly secrets?: readonly string[];
}

/** Characters of a message that are searched for keys; the rest is cut off first. */
const SEARCHED_MESSAGE = 64 * 1024;
/** Longest message that is kept. The thread's secrets are redacted later; a `…` marks a cut that may have truncated one. */
const MAX_MESSAGE_CHARS = 2000;
const MAX_FACT_CHARS = 200;
const RETRYABLE_STATUS = new Set([408, 409, 425, 429]);
const ERROR_CODES: ReadonlySet<unknown> = new Set<ProviderErrorCode>([
  'rate_limit',
  'auth_error',
  'invalid_request',
  'server_error',
  'timeout',
  'unknown',
  'AnswerTooLarge',
  'InvalidAnswer',
]);

/** For failures without a status: the first row that matches a name, code, type or message decides. */
const ERROR_PATTERNS: readonly (readonly [RegExp, ProviderErrorCode])[] = [
  [/rate.?limit|too.?many.?requests|insufficient_quota/i, 'rate_limit'],
  [/authentication|permission|unauthorized|forbidden|invalid_api_key/i, 'auth_error'],
  [/abort|time.?out|timed.?out|deadline/i, 'timeout'],
  [
    /invalid_request|invalid_prompt|context_length|not_found_error|UnsupportedFunctionality/i,
    'invalid_request',
  ],
  [
    /E(CONN(REFUSED|RESET|ABORTED)|PIPE|NOTFOUND|AI_AGAIN|HOSTUNREACH|NETUNREACH)\b|EAI_AGAIN/,
    'server_error',
  ],
  [/UND_ERR|fetch failed|terminated|socket|premature close|connect(ion)? (error|to)/i, 'server_error'],
  [/server_error|api_error|overloaded|internal|unavailable/i, 'server_error'],
];

/** Turns anything thrown by a backend into a ProviderError. Pure. */
export function classifyError(error: unknown, options: ClassifyOptions): ProviderError {
  if (isProviderError(error)) return withoutKeys(error, options.secrets ?? []);
  const links = listCauses(error);
  // A library may have wrapped an error that this package threw while it read the answer.
  const own = links.find(isProviderError);
  if (own !== undefined) return withoutKeys(own, options.secrets ?? []);
  const status = readStatus(error);
  const message = describe(links, options.secrets ?? []);
  const code = status === undefined ? codeFromPatterns(links) : codeFromStatus(status);
  const headers = readField(error, 'headers') ?? readField(error, 'responseHeaders');
  const text = textOfError(links);
  const refused = readRefusal(status, text);
  const tooLong = readLengthRefusal(text, status);
  if (status === undefined && headers == null)
    return new ProviderError(message, code, undefined, refused.retryAfter, { cause: error, tooLong });
  const header = headerReader(headers);
  const cause = readFacts(error, header, { secrets: options.secrets ?? [], refused });
  const retryAfter = readRetryAfter(header, options.now) ?? refused.retryAfter;
  return new ProviderError(message, code, status, retryAfter, { cause, tooLong });
}

/**
 * Returns a ProviderError unchanged, unless its message contains a secret or is too long, one of its numbers is invalid, or it tells
 * in words alone that the request was too long.
 */
function withoutKeys(error: ProviderError, secrets: readonly string[]): ProviderError {
  const message = redactAndTruncate(scalarText(error.message) || errorMessage(error), secrets);
  const { code, cause } = error;
  const statusCode = isCount(error.statusCode) ? error.statusCode : undefined;
  const retryAfter = isCount(error.retryAfter) ? error.retryAfter : undefined;
  const tooLong = toLengthRefusal(error.tooLong) ?? readLengthRefusal(textOfError([error]), statusCode);
  const isSame = message === error.message && tooLong === error.tooLong;
  if (isSame && statusCode === error.statusCode && retryAfter === error.retryAfter) return error;
  return new ProviderError(message, code, statusCode, retryAfter, { cause, tooLong });
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

/**
 * Whether the same request may be sent again: never if the account has nothing left (refusal.ts), nor after a 4xx other
 * than 408, 409, 425 and 429, unless the provider said so in `x-should-retry`.
 */
export function isRetryable(error: ProviderError): boolean {
  if (refusalOf(error) === 'quota') return false;
  const shouldRetry = (error.cause as Partial<AnswerFacts> | undefined)?.shouldRetry;
  if (typeof shouldRetry === 'boolean') return shouldRetry;
  const status = error.statusCode;
  if (status !== undefined && status >= 400 && status < 500) return RETRYABLE_STATUS.has(status);
  return !FINAL_CODES.has(error.code);
}

/** The same request would fail again, or (after a limit was exceeded) cost the same for nothing. */
const FINAL_CODES: ReadonlySet<ProviderErrorCode> = new Set([
  'auth_error',
  'invalid_request',
  'AnswerTooLarge',
  'InvalidAnswer',
]);

export function isProviderError(error: unknown): error is ProviderError {
  return readField(error, 'name') === 'ProviderError' && ERROR_CODES.has(readField(error, 'code'));
}

/** The code for an HTTP status alone. */
export function codeFromStatus(status: number): ProviderErrorCode {
  if (status === 429) return 'rate_limit';
  if (status === 401 || status === 403) return 'auth_error';
  if (status === 408 || status === 504) return 'timeout';
  if (status === 409 || status === 425 || status >= 500) return 'server_error';
  return status >= 400 ? 'invalid_request' : 'unknown';
}

function codeFromPatterns(links: readonly unknown[]): ProviderErrorCode {
  // Names and codes first: a message may quote anything.
  const labels = links
    .flatMap((link) => [
      ...['name', 'code', 'type'].map((field) => fieldText(link, field)),
      constructorName(link),
    ])
    .join(' ');
  const messages = links.map(messageOf).join(' ');
  const find = (text: string) => ERROR_PATTERNS.find(([pattern]) => pattern.test(text))?.[1];
  return find(labels) ?? find(messages) ?? 'unknown';
}

/** `status` (openai), `statusCode` (AI SDK), or a number in `code`, as some providers send within a stream. */
function readStatus(thrown: unknown): number | undefined {
  const candidates = ['status', 'statusCode', 'code'].map((field) =>
    Number(fieldText(thrown, field) || Number.NaN),
  );
  return candidates.find((number) => Number.isInteger(number) && number >= 100 && number <= 599);
}

function readFacts(
  thrown: unknown,
  header: HeaderReader,
  { secrets, refused }: { readonly secrets: readonly string[]; readonly refused: ReadRefusal },
): AnswerFacts {
  const shouldRetry = header('x-should-retry');
  const requestId = header('x-request-id');
  return {
    thrown: fieldText(thrown, 'name') || constructorName(thrown),
    ...(shouldRetry === 'true' || shouldRetry === 'false' ? { shouldRetry: shouldRetry === 'true' } : {}),
    ...(requestId === undefined
      ? {}
      : { requestId: redactKeys(requestId.slice(0, MAX_FACT_CHARS), secrets) }),
    ...(refused.refusal ? { refusal: refused.refusal } : {}),
  };
}

/** The message, followed by the innermost system code ("Connection error. (ECONNREFUSED)"), keys removed. */
function describe(links: readonly unknown[], secrets: readonly string[]): string {
  const message = messageOf(links[0]);
  const code = links.map((link) => readField(link, 'code')).findLast((value) => typeof value === 'string');
  const detail = typeof code === 'string' && !message.includes(code) ? ` (${code})` : '';
  return redactAndTruncate(`${message || 'The provider failed without a message'}${detail}`, secrets);
}

function redactAndTruncate(message: string, secrets: readonly string[]): string {
  return truncate(redactKeys(truncate(message, SEARCHED_MESSAGE), secrets), MAX_MESSAGE_CHARS);
}

function truncate(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

/** An error and its causes, at most five levels deep: causes may form a cycle. */
function listCauses(thrown: unknown): unknown[] {
  const links = [thrown];
  for (
    let cause = readField(thrown, 'cause');
    cause != null && links.length < 5;
    cause = readField(cause, 'cause')
  )
    links.push(cause);
  return links;
}

/** The `message` of a thrown object; any other thrown value, converted to a message. */
function messageOf(link: unknown): string {
  if (link === undefined) return '';
  return typeof link === 'object' && link !== null ? textOf(readField(link, 'message')) : errorMessage(link);
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const fieldText = (thrown: unknown, field: string): string => scalarText(readField(thrown, field));

/** Name of a value's class. The openai SDK does not set `name`; its classes are distinguished by constructor. */
function constructorName(value: unknown): string {
  return textOf(readField(readField(value, 'constructor'), 'name')) || 'Object';
}

type HeaderReader = (name: string) => string | undefined;

/**
 * Reads the headers of a failed answer, as the libraries of providers keep them. Values that are not readable are
 * absent. Reads a Headers object (openai) or a plain object (AI SDK).
 */
function headerReader(headers: unknown): HeaderReader {
  const get = readField(headers, 'get');
  if (typeof get === 'function')
    return (name) => tryRead(() => scalarText(get.call(headers, name))) || undefined;
  const entries = tryRead(() =>
    Object.entries(Object(headers)).map(([name, value]) => [name.toLowerCase(), scalarText(value)] as const),
  );
  const known = new Map(entries);
  return (name) => known.get(name);
}

function tryRead<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Seconds, from `retry-after-ms`, or from `retry-after` as seconds or as an HTTP date. */
function readRetryAfter(header: HeaderReader, now: number): number | undefined {
  const milliseconds = Number.parseFloat(header('retry-after-ms') ?? '');
  if (milliseconds >= 0) return milliseconds / 1000;
  const text = header('retry-after')?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  const date = Date.parse(text);
  // Relative to the response's own `date` header if it has one: this machine's clock may be hours off.
  const sent = Date.parse(header('date') ?? '');
  return Number.isNaN(date) ? undefined : Math.max(0, (date - (Number.isNaN(sent) ? now : sent)) / 1000);
}

/** A text or a number as a text; an empty text for anything else. */
function scalarText(value: unknown): string {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? value : '';
}
