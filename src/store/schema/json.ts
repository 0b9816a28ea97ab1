/** Column types that both engines share. */

/** 0 or 1. */
export type Flag = number;

/** JSON text. */
export type Json = string;
