/** One line of a page that a face follows: a heading, a row of a table, a block of code. */

export interface PageLine {
  readonly what: string;
  /** Acceptance cases. */
  readonly cases?: readonly string[];
  readonly deviation?: string;
}

export const shown = (what: string, ...cases: string[]): PageLine => ({ what, cases });
export const differs = (what: string, deviation: string): PageLine => ({ what, deviation });
export const rows = (table: string, names: string, make: (what: string) => PageLine): PageLine[] =>
  names.split(' ').map((name) => make(`${table}: ${name}`));
