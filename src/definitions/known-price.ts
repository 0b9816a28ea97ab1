/**
 * Prices of known models, for definitions that name none: from the data within `@pydantic/genai-prices`, never from a network.
 * - A model is looked up by its id only if its provider says where it sends its requests, or that the id is that of the service itself:
 *   a server of the author's own may serve a model of any name.
 * - Prices of a definition take precedence, all of them: of two sources one could not tell which holds.
 */
import { createRequire } from 'node:module';
import type { ModelDefinition } from '../core/author/definition.ts';
import type { ModelPrices, SourcedPrices } from '../core/message/model-price.ts';
import { definedFields, isRecord } from '../core/value/record.ts';

/** The release of the package, and when it was published. */
export const PRICE_DATA = { source: '@pydantic/genai-prices 0.1.8', date: '2026-09-23' } as const;

type Library = Pick<typeof import('@pydantic/genai-prices'), 'calcPrice'>;

let library: Library | undefined;

/** Loaded when a model needs it: half a megabyte of data. */
function loadLibrary(): Library {
  library ??= createRequire(import.meta.url)('@pydantic/genai-prices') as Library;
  return library;
}

/** The prices of a model as of now, and where they are from; undefined if nothing knows them. */
export function pricesOf(model: ModelDefinition): SourcedPrices | undefined {
  const { inputPrice, outputPrice, cachedPrice, cacheWritePrice, cacheWrite1hPrice } = model;
  // A definition with a price is the only source.
  if (inputPrice !== undefined || outputPrice !== undefined)
    return {
      ...definedFields({ inputPrice, outputPrice, cachedPrice, cacheWritePrice, cacheWrite1hPrice }),
      source: 'definition',
    };
  const place = model.provider.pricedAs?.();
  if (!place) return undefined;
  const { apiUrl: providerApiUrl } = place;
  const found = loadLibrary().calcPrice({ input_tokens: 0 }, model.model, definedFields({ providerApiUrl }));
  return found ? readPrices(found.model_price) : undefined;
}

const FIELDS = {
  inputPrice: 'input_mtok',
  outputPrice: 'output_mtok',
  cachedPrice: 'cache_read_mtok',
  cacheWritePrice: 'cache_write_mtok',
  cacheWrite1hPrice: 'cache_write_1h_mtok',
} as const satisfies Record<keyof ModelPrices, string>;

type Listed = Readonly<Record<string, unknown>>;

function readPrices(listed: Listed): SourcedPrices | undefined {
  const prices = pricesAbove(listed, 0);
  if (prices.inputPrice === undefined || prices.outputPrice === undefined) return undefined;
  const starts = new Set(
    Object.values(FIELDS).flatMap((field) => tiersIn(listed[field]).map(({ start }) => start)),
  );
  const long = [...starts]
    .sort((one, other) => one - other)
    .map((above) => ({ above, ...pricesAbove(listed, above) }));
  return { ...prices, ...(long.length > 0 ? { long } : {}), ...PRICE_DATA };
}

/** The prices of requests with more input tokens than `above`. */
function pricesAbove(listed: Listed, above: number): ModelPrices {
  const entries = Object.entries(FIELDS).map(([name, field]) => [name, priceAbove(listed[field], above)]);
  return definedFields(Object.fromEntries(entries) as ModelPrices);
}

function priceAbove(listed: unknown, above: number): number | undefined {
  if (typeof listed === 'number') return listed;
  const tier = tiersIn(listed).findLast(({ start }) => start <= above && above > 0);
  return tier?.price ?? (isRecord(listed) && typeof listed.base === 'number' ? listed.base : undefined);
}

function tiersIn(listed: unknown): readonly { readonly start: number; readonly price: number }[] {
  return isRecord(listed) && Array.isArray(listed.tiers) ? listed.tiers : [];
}
