/**
 * Types of columns that both engines share. Whole numbers up to 64 bits, which JavaScript's numbers do not hold, are
 * returned as bigints by both; their type in migrations is `numeric(19, 0)`.
 */

/** 0 or 1. */
export type Flag = number;

/** JSON text. */
export type Json = string;

const SQLITE_TYPE = /^numeric\(19, ?0\)$/i;

/** For the declared type of a column of SQLite. */
export function isWholeNumber(type: string | null): boolean {
  return type !== null && SQLITE_TYPE.test(type);
}

/** PostgreSQL's own type number of `numeric`. */
export const NUMERIC_OID = 1700;

/** PostgreSQL also computes sums of whole numbers as `numeric`. */
export function fromNumeric(text: string): bigint | number {
  return /^-?\d+$/.test(text) ? BigInt(text) : Number(text);
}
