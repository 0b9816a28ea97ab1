/**
 * What a provider reports of its usage, normalised once for everything inside. Pure.
 * - `promptTokens` includes what was read from a cache and what was written to one; `completionTokens` includes the reasoning.
 * U2. More cached tokens than prompt tokens are a report that leaves the cached ones out of `promptTokens`: they are added.
 * - A total that has room for the reasoning beside the answer, or more reasoning than answer, is a report that leaves the reasoning
 *   out of `completionTokens`: it is added.
 * - An impossible number counts as not reported, and so does a cost of 0, or one that no amount holds, for tokens above 0.
 */
import { LIMITS } from '../value/limit.ts';
import { toPico } from '../value/money.ts';
import { definedFields, isRecord } from '../value/record.ts';
import type { ProviderUsage } from './provider.ts';

/** A report as it comes: any field may have any value. */
export type ReportedUsage = { readonly [Field in keyof ProviderUsage]?: unknown };

/** The fields that are possible numbers; tokens of the prompt and the answer that were not reported are 0. */
export function readUsage(reported: unknown): ProviderUsage {
  const fields: ReportedUsage = isRecord(reported) ? reported : {};
  const promptTokens = toCount(fields.promptTokens) ?? 0;
  const completionTokens = toCount(fields.completionTokens) ?? 0;
  const optional = {
    reasoningTokens: toCount(fields.reasoningTokens),
    cachedTokens: toCount(fields.cachedTokens),
    cacheWriteTokens: toCount(fields.cacheWriteTokens),
    cacheWrite1hTokens: toCount(fields.cacheWrite1hTokens),
    cost: isWithin(fields.cost, LIMITS.claimedCost) ? fields.cost : undefined,
  };
  return {
    promptTokens,
    completionTokens,
    totalTokens: toCount(fields.totalTokens) ?? promptTokens + completionTokens,
    ...definedFields(optional),
  };
}

/** U1 to U4, in one pass. Normalising twice changes nothing. */
export function normaliseUsage(reported: unknown): ProviderUsage {
  const read = readUsage(reported);
  const { cost, totalTokens, reasoningTokens, cacheWriteTokens, cacheWrite1hTokens = 0, ...rest } = read;
  // What was written for an hour is a part of what was written.
  const written = Math.max(cacheWriteTokens ?? 0, cacheWrite1hTokens);
  // U2: the cached tokens are added.
  const promptTokens = read.promptTokens + (leavesCacheOut(read) ? cachedIn(read) : 0);
  const isBeside =
    reasoningTokens !== undefined &&
    (reasoningTokens > read.completionTokens ||
      (reasoningTokens > 0 && totalTokens >= promptTokens + read.completionTokens + reasoningTokens));
  const completionTokens = read.completionTokens + (isBeside ? reasoningTokens : 0);
  const sum = promptTokens + completionTokens;
  return {
    ...rest,
    promptTokens,
    completionTokens,
    totalTokens: isBeside ? sum : Math.max(totalTokens, sum),
    ...definedFields({ reasoningTokens }),
    ...(written === 0 && cacheWriteTokens === undefined ? {} : { cacheWriteTokens: written }),
    ...(read.cacheWrite1hTokens === undefined ? {} : { cacheWrite1hTokens }),
    // No claim that tokens cost nothing.
    ...(cost === undefined || (toPico(cost) === 0n && sum > 0) ? {} : { cost }),
  };
}

/** U2: true if the cached tokens cannot be a part of the reported prompt tokens. */
export function leavesCacheOut(reported: unknown): boolean {
  const usage = readUsage(reported);
  return cachedIn(usage) > usage.promptTokens;
}

function cachedIn({ cachedTokens = 0, cacheWriteTokens = 0, cacheWrite1hTokens = 0 }: ProviderUsage): number {
  return cachedTokens + Math.max(cacheWriteTokens, cacheWrite1hTokens);
}

/** Whole, and small enough for sums and databases. */
function toCount(value: unknown): number | undefined {
  return isWithin(value, LIMITS.claimedTokens) ? Math.round(value) : undefined;
}

/** Also false for a value that is not a number. */
function isWithin(value: unknown, limit: number): value is number {
  return typeof value === 'number' && value >= 0 && value <= limit;
}
