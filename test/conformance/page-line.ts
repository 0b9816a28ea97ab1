/** One line of an external page whose names a module of ours provides: a heading, a row of a table, a block of code. */

export interface PageLine {
  readonly what: string;
  /** Ids of the acceptance cases that show it. */
  readonly cases?: readonly string[];
  readonly deviation?: string;
}

export const shown = (what: string, ...cases: string[]): PageLine => ({ what, cases });
export const differs = (what: string, deviation: string): PageLine => ({ what, deviation });
export const rows = (table: string, names: string, make: (what: string) => PageLine): PageLine[] =>
  names.split(' ').map((name) => make(`${table}: ${name}`));
