/**
 * A command's output: results go to standard output, everything else (progress, notes, failures) to standard error, so
 * that a result can be piped. Colours are used only if the stream is a terminal with colours.
 */
import { styleText } from 'node:util';

export type Tone = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** Writes text of a result, unchanged. */
export function write(text: string): void {
  process.stdout.write(text);
}

export function printLine(text = ''): void {
  process.stdout.write(`${text}\n`);
}

/** Prints a record of ours as JSON; its times become ISO 8601. */
export function printJson(record: unknown): void {
  printData(withIsoTimes(record));
}

/** Prints one of a stream of our records as a line of NDJSON. */
export function printJsonLine(record: unknown): void {
  printDataLine(withIsoTimes(record));
}

/** Prints a value of others as JSON, with its times unchanged. */
export function printData(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

export function printDataLine(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

/** Writes text for people to standard error. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** A note of minor importance. */
export function dimNote(text: string): void {
  note(tone('dim', text, process.stderr));
}

export function tone(style: Tone, text: string, stream: NodeJS.WritableStream = process.stdout): string {
  return styleText(style, text, { stream });
}

/** A text for each row, in columns as wide as their widest cell; the last column is not padded. */
export function tableLines(rows: readonly (readonly string[])[]): string[] {
  const columns = rows[0]?.length ?? 0;
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  return rows.map((row) =>
    row.map((cell, column) => (column === columns - 1 ? cell : cell.padEnd(widths[column] ?? 0))).join('  '),
  );
}

/** How long ago, in the largest unit: `12s`, `3m`, `5h`, `2d`. */
export function ageOf(microseconds: number, now = Date.now()): string {
  const seconds = Math.max(0, Math.floor((now - microseconds / 1000) / 1000));
  const [unit, length] = AGES.find(([, each]) => seconds >= each) ?? ['s', 1];
  return `${Math.floor(seconds / length)}${unit}`;
}

const AGES = [
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
] as const;

/** Microseconds since 1970 as a local time of day. */
export function timeOfDay(microseconds: number): string {
  return new Date(microseconds / 1000).toTimeString().slice(0, 8);
}

/** Microseconds since 1970 as local date and time. */
export function dateAndTime(microseconds: number): string {
  const date = new Date(microseconds / 1000);
  const pad = (value: number) => String(value).padStart(2, '0');
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())} ${timeOfDay(microseconds)}`;
}

/**
 * Converts the times of records, microseconds in the store and over HTTP, to ISO 8601 for the CLI's output.
 * - Values that authors, models and users wrote are not converted, whatever their fields are called.
 */

/** Fields whose contents are written by authors, models or users. */
const FOREIGN = new Set([
  'answer',
  'args',
  'arguments',
  'content',
  'context',
  'data',
  'input',
  'inputs',
  'knowledge',
  'metadata',
  'output',
  'payload',
  'result',
  'spec',
  'value',
]);
const TIME = /^(at|since)$|[a-z]At$|_at$/;
/** Microseconds in 2001 and 2286: no other number in a record is as large. */
const [EARLIEST, LATEST] = [1e15, 1e16];

export function withIsoTimes(value: unknown, key = ''): unknown {
  if (typeof value === 'number')
    return TIME.test(key) && value >= EARLIEST && value < LATEST ? toIso(value) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => withIsoTimes(each, key));
  // The data of an event is in our own format.
  const isEvent = 'seq' in value && 'type' in value;
  const isOurs = (name: string) => !FOREIGN.has(name) || (isEvent && name === 'data');
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, isOurs(name) ? withIsoTimes(each, name) : each]),
  );
}

/** Formats all six digits of the microseconds, because times also define the order of records. */
export function toIso(microseconds: number): string {
  const whole = Math.floor(microseconds);
  return `${new Date(whole / 1000).toISOString().slice(0, 19)}.${String(whole % 1_000_000).padStart(6, '0')}Z`;
}
