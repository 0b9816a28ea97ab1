/** One line of an external page: a heading, a row of a table, a block of code, a sentence of a spec. */

export interface PageLine {
  readonly what: string;
  /** Ids of the acceptance cases that show it. */
  readonly cases?: readonly string[];
  readonly deviation?: string;
  /** How a text is read that leaves something open. */
  readonly reading?: string;
}

export const shown = (what: string, ...cases: string[]): PageLine => ({ what, cases });
export const differs = (what: string, deviation: string, ...cases: string[]): PageLine => ({
  what,
  deviation,
  cases,
});
export const reads = (what: string, reading: string, ...cases: string[]): PageLine => ({
  what,
  reading,
  cases,
});
export const rows = (table: string, names: string, make: (what: string) => PageLine): PageLine[] =>
  names.split(' ').map((name) => make(`${table}: ${name}`));
