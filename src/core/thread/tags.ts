/** Tags of a thread: words chosen by its users, by which it can be found. */
import { LIMITS } from '../value/limit.ts';

export type ParsedTags =
  | { readonly ok: true; readonly tags: readonly string[] }
  | { readonly ok: false; readonly reason: string };

/** Removes duplicates and keeps the given order. */
export function parseTags(given: unknown): ParsedTags {
  if (!Array.isArray(given)) return { ok: false, reason: '"tags" must be a list of strings' };
  if (given.length > LIMITS.tagsPerThread)
    return { ok: false, reason: `a thread has at most ${LIMITS.tagsPerThread} tags` };
  const bad = given.find((tag) => !isTag(tag));
  if (bad === undefined && !given.includes(undefined)) return { ok: true, tags: [...new Set(given)] };
  return {
    ok: false,
    reason: `a tag must be a string of 1 to ${LIMITS.tagChars} characters without line breaks or other control characters`,
  };
}

function isTag(tag: unknown): tag is string {
  // Databases do not accept lone surrogates.
  return (
    typeof tag === 'string' &&
    tag.length > 0 &&
    tag.length <= LIMITS.tagChars &&
    !/\p{Cc}/u.test(tag) &&
    tag.isWellFormed()
  );
}
