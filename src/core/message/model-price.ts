/** What an answer of a model costs, by the prices of its definition. Pure. */
import { costOfTokens, type Pico, toPico } from '../value/money.ts';
import type { ProviderUsage } from './provider.ts';

/** US dollars per 1,000,000 tokens. */
export interface ModelPrices {
  readonly inputPrice?: number;
  readonly outputPrice?: number;
  readonly cachedPrice?: number;
  /** Prices of tokens that are written to a cache, for five minutes and for an hour. */
  readonly cacheWritePrice?: number;
  readonly cacheWrite1hPrice?: number;
}

/** Prices, and where they are from: `definition`, or a list of prices with its date. */
export interface SourcedPrices extends ModelPrices {
  readonly source: string;
  readonly date?: string;
  /** Prices of requests with more input tokens than `above`, in ascending order. */
  readonly long?: readonly (ModelPrices & { readonly above: number })[];
}

/** The prices of a request with so many input tokens. */
export function pricesFor(
  prices: ModelPrices & Pick<SourcedPrices, 'long'>,
  inputTokens: number,
): ModelPrices {
  return prices.long?.findLast(({ above }) => inputTokens > above) ?? prices;
}

/** Prices of tokens that are written to a cache, as multiples of the price of input. */
const CACHE_WRITE = 1.25;
const CACHE_WRITE_1H = 2;

/** The provider's own figure, else by the prices; undefined if there is neither. `usage` is normalised. */
export function costOf(
  listed: (ModelPrices & Pick<SourcedPrices, 'long'>) | undefined,
  usage: ProviderUsage,
): Pico | undefined {
  if (usage.cost !== undefined) return toPico(usage.cost);
  if (listed === undefined) return undefined;
  const prices = pricesFor(listed, usage.promptTokens);
  const { inputPrice, outputPrice } = prices;
  if (inputPrice === undefined && outputPrice === undefined) return undefined;
  const input = inputPrice ?? 0;
  const { promptTokens, completionTokens, cachedTokens = 0 } = usage;
  const { cacheWriteTokens = 0, cacheWrite1hTokens = 0 } = usage;
  return costOfTokens([
    [promptTokens - cachedTokens - cacheWriteTokens, input],
    [cachedTokens, prices.cachedPrice ?? input],
    [cacheWriteTokens - cacheWrite1hTokens, prices.cacheWritePrice ?? input * CACHE_WRITE],
    [cacheWrite1hTokens, prices.cacheWrite1hPrice ?? input * CACHE_WRITE_1H],
    [completionTokens, outputPrice ?? 0],
  ]);
}
