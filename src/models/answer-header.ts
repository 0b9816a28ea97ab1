/** Reads the headers of a failed answer, as the libraries of providers keep them. Values that are not readable are absent. */
import { readField } from '../core/value/thrown.ts';

export type HeaderReader = (name: string) => string | undefined;

/** Reads a Headers object (openai) or a plain object (AI SDK). */
export function headerReader(headers: unknown): HeaderReader {
  const get = readField(headers, 'get');
  if (typeof get === 'function')
    return (name) => tryRead(() => scalarText(get.call(headers, name))) || undefined;
  const entries = tryRead(() =>
    Object.entries(Object(headers)).map(([name, value]) => [name.toLowerCase(), scalarText(value)] as const),
  );
  const known = new Map(entries);
  return (name) => known.get(name);
}

function tryRead<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Seconds, from `retry-after-ms`, or from `retry-after` as seconds or as an HTTP date. */
export function readRetryAfter(header: HeaderReader, now: number): number | undefined {
  const milliseconds = Number.parseFloat(header('retry-after-ms') ?? '');
  if (milliseconds >= 0) return milliseconds / 1000;
  const text = header('retry-after')?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  const date = Date.parse(text);
  // Relative to the response's own `date` header if it has one: this machine's clock may be hours off.
  const sent = Date.parse(header('date') ?? '');
  return Number.isNaN(date) ? undefined : Math.max(0, (date - (Number.isNaN(sent) ? now : sent)) / 1000);
}

/** A text or a number as a text; an empty text for anything else. */
export function scalarText(value: unknown): string {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? value : '';
}
