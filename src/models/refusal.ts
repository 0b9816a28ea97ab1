/**
 * What a provider means by a refusal that concerns no single request: it is busy, which heals by itself, or the account
 * has nothing left, which waiting does not heal. Read from the status, and from every text of the error: libraries hide
 * the provider's code in fields of their own.
 */
import type { ProviderError } from '../core/message/provider.ts';
import { readField } from '../core/value/thrown.ts';

export type Refusal = 'busy' | 'quota';

interface Row {
  /** The statuses that it concerns; without it, any. `none`: an error within a stream that began with 200. */
  readonly status?: readonly (number | 'none')[];
  readonly text?: RegExp;
  /** Undefined: the refusal concerns the request itself. */
  readonly means: Refusal | undefined;
}

/** The first row that fits decides. */
const ROWS: readonly Row[] = [
  // Larger than what a minute may take (OpenAI, Groq): no pause makes it smaller.
  { status: [429, 'none'], text: /request too large|limit[: ]+\d+, requested[: ]+\d+/i, means: undefined },
  { status: [402], means: 'quota' },
  // OpenAI and those that speak like it.
  {
    status: [429, 403, 'none'],
    text: /\b(?:insufficient_quota|billing_hard_limit_reached|billing_not_active)\b/,
    means: 'quota',
  },
  // Anthropic.
  { status: [400, 403, 'none'], text: /credit balance is too low/i, means: 'quota' },
  // Gemini: the text is the same for a day and for a minute, the id of the quota is not.
  { status: [429, 'none'], text: /"?quotaId"?\s*:\s*"[^"]*PerDay/, means: 'quota' },
  { status: [429, 529], means: 'busy' },
  { status: [503, 'none'], text: /overloaded/i, means: 'busy' },
  { status: ['none'], text: /rate.?limit|too.?many.?requests|RESOURCE_EXHAUSTED/i, means: 'busy' },
];

/** Characters of an error's texts that are searched. */
const SEARCHED_CHARS = 64 * 1024;
const TEXT_FIELDS = ['name', 'code', 'type', 'status', 'message', 'responseBody', 'data', 'error'] as const;

export interface ReadRefusal {
  readonly refusal?: Refusal;
  /** Seconds that a text asks to wait for. */
  readonly retryAfter?: number;
}

/** All that an error and its causes (`links`) say, libraries' own fields among it. */
export function textOfError(links: readonly unknown[]): string {
  return links.flatMap(textsOf).join(' ').slice(0, SEARCHED_CHARS);
}

/** `text`: all that the error says (`textOfError`). */
export function readRefusal(status: number | undefined, text: string): ReadRefusal {
  const means = ROWS.find((row) => fits(row, status, text))?.means;
  const retryAfter = readDelay(text);
  return {
    ...(means ? { refusal: means } : {}),
    ...(means && retryAfter !== undefined ? { retryAfter } : {}),
  };
}

/** What an error means that was classified, or that code of the project has made itself. */
export function refusalOf(error: ProviderError): Refusal | undefined {
  const { statusCode, code, cause } = error;
  // Its texts have been read, some of which were not kept.
  if (readField(cause, 'thrown') !== undefined) return (cause as ReadRefusal).refusal;
  const links = statusCode === undefined ? [error, cause] : [error];
  return readRefusal(statusCode ?? (code === 'rate_limit' ? 429 : undefined), textOfError(links)).refusal;
}

function fits({ status, text }: Row, given: number | undefined, body: string): boolean {
  return (status?.includes(given ?? 'none') ?? true) && (text?.test(body) ?? true);
}

function textsOf(link: unknown): string[] {
  if (typeof link === 'string') return [link];
  return TEXT_FIELDS.flatMap((field) => {
    const value = readField(link, field);
    if (typeof value === 'string') return [value];
    return typeof value === 'object' && value !== null ? [toJson(value)] : [];
  });
}

function toJson(value: object): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return '';
  }
}

/** Gemini's `retryDelay`, which no header repeats, and the sentence of others: "try again in 1m2.5s". */
function readDelay(text: string): number | undefined {
  const delay = /"?retryDelay"?\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(text);
  if (delay) return Number(delay[1]);
  const said = /\b(?:try again|retry) in (?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)(ms|s))?/i.exec(text);
  if (!said || said.slice(1, 4).every((part) => part === undefined)) return undefined;
  const [, hours = 0, minutes = 0, rest = 0, unit] = said;
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(rest) / (unit === 'ms' ? 1000 : 1);
}
