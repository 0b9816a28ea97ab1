/**
 * How a model counts the tokens of a thread's requests, as its reports have shown (context-estimate.ts uses it). Pure.
 * - The ratio is the median of the last reports, and one report moves it by at most half: a single odd report changes
 *   little. It stays within plausible bounds.
 * - What is not text is taken off before: images and short messages do not distort the ratio. A report
 *   that is mostly about them teaches nothing.
 * - A report far below the estimate by script teaches nothing: the server has read a part of the request only.
 */
import type { ProviderRequest } from '../message/provider.ts';
import { estimateRequest, MESSAGE_TOKENS, PART_TOKENS } from './context-estimate.ts';
import { RATIO } from './token-ratio.ts';

/** What a thread knows of a model. */
export interface ModelCount {
  /** Characters per token; absent before the first report. */
  readonly ratio?: number;
  /** The newest reports, the oldest first. */
  readonly last: readonly number[];
  /** Characters above which a message is cut: the same in every later request (fit-messages.ts). */
  readonly longest?: number;
  /** True once the log says that the provider seems to cut requests. */
  readonly told?: true;
}

/** By the model's name. */
export type ModelCounts = Readonly<Record<string, ModelCount>>;

/** What an ended request has shown. */
export interface CountedRequest {
  /** Present if the provider has reported its count, and the report teaches something. */
  readonly report?: CountReport;
  readonly longest?: number;
  /** The provider counted far less than was sent. */
  readonly undercounted?: { readonly estimated: number; readonly counted: number };
}

export interface CountReport {
  /** Characters of a token, as counted. */
  readonly ratio: number;
  /** Characters of a token, as assumed before. */
  readonly assumed: number;
}

const REPORTS = 5;
/** Characters below which a request says nothing about a ratio. */
const LEAST_CHARS = 400;
/** An estimate by script is this many times the count if a server has read a part only; and tokens that it must have. */
const [UNDERCOUNT, LEAST_TOKENS] = [2.5, 1000];
/** The share of an estimate by the model's own reports above which a count is usual. */
const USUAL = 0.6;

export function learnCount(
  known: ModelCount = { last: [] },
  { report, longest, undercounted }: CountedRequest,
): ModelCount {
  const kept = {
    ...known,
    ...(longest === undefined ? {} : { longest }),
    ...(undercounted ? { told: true as const } : {}),
  };
  if (!report) return kept;
  const last = [...known.last, round(report.ratio)].slice(-REPORTS);
  return { ...kept, last, ratio: round(moved(known.ratio ?? report.assumed, median(last))) };
}

/** At most half of the old ratio up or down. */
function moved(from: number, to: number): number {
  return clamp(Math.min(Math.max(to, from / 2), from * 1.5));
}

const clamp = (ratio: number) => Math.min(Math.max(ratio, RATIO.least), RATIO.most);
const round = (ratio: number) => Math.round(ratio * 1000) / 1000;

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] as number) + (sorted[Math.ceil(middle)] as number)) / 2;
}

/** What is counted of a request that was sent. */
export interface SentSize {
  /** Characters of its texts. */
  readonly chars: number;
  /** Estimated tokens of what is not text. */
  readonly apart: number;
  /** Estimated tokens of its texts, by their script. */
  readonly byScript: number;
}

export function measureRequest(
  request: Pick<ProviderRequest, 'messages' | 'tools' | 'responseFormat'>,
): SentSize {
  const { messages } = request;
  const parts = messages.reduce((sum, { content }) => sum + countParts(content), 0);
  const files = messages.reduce(
    (sum, each) => sum + (each.role === 'tool' ? (each.attachments?.length ?? 0) : 0),
    0,
  );
  const apart = messages.length * MESSAGE_TOKENS + (parts + files) * PART_TOKENS;
  const tokensAt = (ratio?: number) => estimateRequest(request, ratio) - apart;
  return {
    chars: tokensAt(1),
    apart,
    // Read rarely, and slow.
    get byScript() {
      return tokensAt();
    },
  };
}

function countParts(content: ProviderRequest['messages'][number]['content']): number {
  return Array.isArray(content) ? content.filter(({ type }) => type !== 'text').length : 0;
}

/** `counted`: tokens of the whole input, as the provider counted. `ratio`: what was assumed; by script if absent. */
export function readCount(
  sent: SentSize,
  counted: number,
  ratio?: number,
): Pick<CountedRequest, 'report' | 'undercounted'> {
  const { chars, apart } = sent;
  // A short request, and a count close to what the model's own reports suggest, need no look at the texts.
  const isUsual = ratio !== undefined && counted > (chars / ratio + apart) * USUAL;
  const estimated = isUsual || chars + apart <= LEAST_TOKENS ? 0 : sent.byScript + apart;
  if (counted > 0 && estimated > LEAST_TOKENS && counted * UNDERCOUNT < estimated)
    return { undercounted: { estimated, counted } };
  const ofTexts = counted - apart;
  if (chars < LEAST_CHARS || ofTexts < counted / 2) return {};
  return { report: { ratio: clamp(chars / ofTexts), assumed: ratio ?? chars / Math.max(1, sent.byScript) } };
}
