/**
 * Text that can be a key in every database: PostgreSQL has no NUL, UTF-8 has no lone surrogates, and Unicode reserves
 * its noncharacters for internal use, including our own (`store/postgres/text.ts`).
 */

const UNSTORABLE = /[\0\p{Noncharacter_Code_Point}]/u;

export function isStorable(text: string): boolean {
  return text.isWellFormed() && !UNSTORABLE.test(text);
}
