/**
 * Text that serves as a key in every database: PostgreSQL has no NUL, UTF-8 has no half of a surrogate pair, and the
 * noncharacters of Unicode are kept for programs' own use, ours among them (`store/postgres/text.ts`).
 */

const UNFIT = /[\0\p{Noncharacter_Code_Point}]/u;

export function isStorable(text: string): boolean {
  return text.isWellFormed() && !UNFIT.test(text);
}
