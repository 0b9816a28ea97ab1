/**
 * How many requests a provider gets at once: fewer after a refusal, more after accepted ones (additive increase,
 * multiplicative decrease). Pure; `models/rate-limiter.ts` keeps one for each endpoint, key and model.
 * - Requests that were under way together count as one refusal: they all met the same limit. Each of them shows how
 *   many were under way with it, which was one too many.
 * - After a refusal nothing new is sent for a while: as long as the provider asks for, else for a pause that doubles
 *   with each refusal in a row. Both vary at random, since other workers meet the same limit at the same moment. A
 *   provider that asks for more than MAX_HOLD_MS is asked again by each new request: it may have changed its mind.
 * - Then one request is let in, and each accepted one lets in one more: all at once would be refused again.
 */

/** Milliseconds. */
export const MAX_HOLD_MS = 5 * 60_000;
const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 30_000;
/** The share of the requests under way that stays allowed after a refusal. */
const DECREASE = 0.75;
/** Requested pauses become longer by up to this share, and never by more than a second. */
const SPREAD = 0.1;

export interface Pace {
  /** Requests at once; infinite until the first refusal. */
  readonly limit: number;
  /** Accepted requests since the last refusal; infinite until the first one. */
  readonly accepted: number;
  /** Refusals since the last accepted request. */
  readonly refusals: number;
  /** Times on any steady clock, in milliseconds. */
  readonly heldUntil: number;
  readonly refusedAt: number;
}

export const UNREFUSED: Pace = {
  limit: Number.POSITIVE_INFINITY,
  accepted: Number.POSITIVE_INFINITY,
  refusals: 0,
  heldUntil: Number.NEGATIVE_INFINITY,
  refusedAt: Number.NEGATIVE_INFINITY,
};

export interface Load {
  /** Requests that have been sent and have not ended. */
  readonly running: number;
  /** Those of them whose answer has not begun. */
  readonly unanswered: number;
}

export function mayEnter(pace: Pace, { running, unanswered }: Load, now: number, ceiling: number): boolean {
  if (now < pace.heldUntil || running >= Math.min(allowed(pace), ceiling)) return false;
  // None of them has been accepted yet.
  return unanswered <= pace.accepted;
}

/** Requests that may be under way at once. */
export function allowed({ limit }: Pace): number {
  return Math.max(1, Math.floor(limit));
}

/** `load`: with the accepted request. */
export function afterAccepted(pace: Pace, { running }: Load): Pace {
  // An allowance that is not used says nothing about a larger one.
  const limit = running >= allowed(pace) ? pace.limit + 1 / pace.limit : pace.limit;
  return { ...pace, limit, accepted: pace.accepted + 1, refusals: 0 };
}

export interface RefusedRequest {
  readonly sentAt: number;
  readonly now: number;
  /** Requests under way, the refused one included. */
  readonly running: number;
  /** What the provider asks for. */
  readonly retryAfterMs?: number;
  /** From 0 up to 1. */
  readonly random: number;
}

export function afterRefusal(pace: Pace, refused: RefusedRequest): Pace {
  const { sentAt, now, running } = refused;
  // Sent before the last refusal was known.
  const isNew = sentAt >= pace.refusedAt;
  const refusals = isNew ? pace.refusals + 1 : pace.refusals;
  const heldUntil = Math.max(pace.heldUntil, now + pauseAfter(refusals, refused));
  if (!isNew) return { ...pace, heldUntil, limit: Math.max(1, Math.min(pace.limit, running - 1)) };
  const limit = Math.max(1, Math.min(pace.limit, running) * DECREASE);
  return { limit, accepted: 0, refusals, heldUntil, refusedAt: now };
}

/** `refusals`: in a row, this one included. */
export function pauseAfter(
  refusals: number,
  { retryAfterMs, random }: Pick<RefusedRequest, 'retryAfterMs' | 'random'>,
): number {
  const doubled = (times: number) =>
    Math.min(FIRST_PAUSE_MS * 2 ** (times - 1), MAX_PAUSE_MS) * (0.5 + random / 2);
  if (retryAfterMs === undefined || retryAfterMs > MAX_HOLD_MS) return doubled(refusals);
  const spread = retryAfterMs + Math.min(retryAfterMs * SPREAD, 1000) * random;
  // One that was followed in vain is not trusted alone: it may be 0.
  return refusals > 1 ? Math.max(spread, doubled(refusals - 1)) : spread;
}
