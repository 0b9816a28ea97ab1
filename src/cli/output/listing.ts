/** Records of one kind for people: several as a table, one with a line for each field. */

import { escapeControls, shorten } from '../../core/value/shown-text.ts';
import type { CommandOutcome } from '../command.ts';
import { dateAndTime, tableLines, tone } from './output.ts';

/** A field of a record, with the most characters that are shown of it, or a text made of the record. */
type Cell<T> = keyof T | readonly [keyof T, number] | ((record: T) => string | null | undefined);

/** Cells by their heading. */
export type Cells<T> = Readonly<Record<string, Cell<T>>>;

export interface Listing<T> {
  readonly columns: Cells<T>;
  /** Note if there are no records. */
  readonly none: string;
  /** Most records that were asked for, and the options that show others. */
  readonly limit?: number;
  readonly more?: (last: T | undefined) => string;
  /** Changes the line of a record. */
  readonly paint?: (line: string, record: T) => string;
  readonly plainHeading?: boolean;
}

/** `name` is the records' name with `--json`. */
export function listing<T>(name: string, records: readonly T[], shown: Listing<T>): CommandOutcome {
  const { columns, none, limit, more, paint = (line) => line, plainHeading } = shown;
  const json = { [name]: records };
  if (records.length === 0) return { json, note: none };
  const rows = records.map((record) => Object.values(columns).map((cell) => cellText(record, cell) ?? ''));
  const [heading = '', ...lines] = tableLines([Object.keys(columns), ...rows]).map(escapeControls);
  const painted = records.map((record, index) => paint(lines[index] ?? '', record));
  return {
    json,
    text: [plainHeading ? heading : tone('dim', heading), ...painted].join('\n'),
    ...(more && records.length === limit
      ? { hint: `At most ${limit} are shown: ${more(records.at(-1))}` }
      : {}),
  };
}

/** One line for each field that has a value. */
export function fieldLines<T>(record: T, fields: Cells<T>): string[][] {
  return Object.entries(fields).flatMap(([name, cell]) => {
    const text = cellText(record, cell);
    return text === undefined ? [] : [[name, text]];
  });
}

export function fieldsText(lines: readonly string[][]): string {
  return escapeControls(tableLines(lines).join('\n'));
}

function cellText<T>(record: T, cell: Cell<T>): string | undefined {
  if (typeof cell === 'function') return cell(record) ?? undefined;
  const [key, length] = Array.isArray(cell) ? cell : [cell, undefined];
  const text = valueText(record[key as keyof T], String(key));
  return text === undefined || length === undefined ? text : shorten(text, length);
}

function valueText(value: unknown, key: string): string | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value === 'number') return key.endsWith('At') ? dateAndTime(value) : String(value);
  if (Array.isArray(value)) return value.join(' ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
