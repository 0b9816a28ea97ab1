/**
 * How much smaller a request must be after a refusal for its length. Pure.
 * - The refusal's own numbers decide, where it names them; else the request is at most half as long.
 * - What is left may be denser than what was left out: each further time takes more off, and the last time leaves at
 *   most a quarter.
 */
import type { LengthRefusal } from '../message/provider-terms.ts';

/** The share that is left of a request after the first, the second and the last refusal; with and without numbers. */
const LEFT = [
  { named: 0.95, most: 1, unnamed: 0.5 },
  { named: 0.9, most: 0.75, unnamed: 0.5 },
  { named: 0.8, most: 0.25, unnamed: 0.25 },
] as const;

export interface RefusedRequest {
  /** How many of its kind were refused before. */
  readonly before: number;
  /** Tokens that its answer might have. */
  readonly answer: number;
  /** Its estimated size, in the unit of the refusal. */
  readonly size: number;
}

/** The size that the next request may have, in the unit of its estimate. */
export function shrink(refusal: LengthRefusal, { before, answer, size }: RefusedRequest): number {
  const { named, most, unnamed } = LEFT[Math.min(before, LEFT.length - 1)] as (typeof LEFT)[number];
  const share = shareOf(refusal, answer, size);
  return Math.floor(size * (share === undefined ? unnamed : Math.min(share * named, most)));
}

/** The share of the refused request that would have fitted; undefined if the numbers do not say it. */
function shareOf(
  { limit, requested, covers }: LengthRefusal,
  answer: number,
  size: number,
): number | undefined {
  if (limit === undefined) return undefined;
  const reserved = covers === 'both' ? answer : 0;
  const share = (limit - reserved) / (requested === undefined ? size : requested - reserved);
  return share > 0 && share < 1 ? share : undefined;
}

/** Tokens that the answer of the next request may have: fewer, if they alone would fill most of the limit. */
export function shrinkAnswer({ limit, covers }: LengthRefusal, answer: number): number {
  return covers === 'both' && limit !== undefined && answer > limit / 2 ? Math.ceil(limit / 4) : answer;
}
