/** Numbers, times and names as a sentence has them. */
import { shorten } from '../../core/value/shown-text.ts';

const NAME_LENGTH = 64;
const TEXT_LENGTH = 300;

/** A name of others, in quotation marks. */
export const quote = (name: string): string => `"${shorten(name, NAME_LENGTH)}"`;

/** A text of others at the end of a sentence. */
export const cut = (text: string, length = TEXT_LENGTH): string => shorten(text, length);

/** A text of others as the end of a sentence, with one full stop. */
export const close = (text: string): string => cut(text).replace(/[.\s]*$/, '.');

/** `: text.`, or a full stop if there is none. */
export const because = (text: string | null | undefined): string => (text ? `: ${close(text)}` : '.');

export const list = (names: readonly string[]): string => {
  const shown = names.slice(0, 8).map((name) => cut(name, NAME_LENGTH));
  return names.length > 8 ? `${shown.join(', ')} and ${names.length - 8} more` : shown.join(', ');
};

export const count = (value: number): string => value.toLocaleString('en-US');

export const counted = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`;

/** `340 ms`, `2.1 s`, `3 min 20 s`, `2 h 5 min`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${Math.round(ms / 100) / 10} s`;
  const seconds = Math.round(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min${seconds % 60 === 0 ? '' : ` ${seconds % 60} s`}`;
  return `${Math.floor(minutes / 60)} h${minutes % 60 === 0 ? '' : ` ${minutes % 60} min`}`;
}

/** Between two times in microseconds. */
export const elapsed = (from: number, to: number): string => duration(Math.max(0, to - from) / 1000);

export const dollars = (usd: number): string => `$${usd >= 1 ? usd.toFixed(2) : Number(usd.toPrecision(2))}`;

/** Microseconds since 1970 as `2026-11-29 05:00 UTC`. */
export const moment = (at: number): string =>
  `${new Date(at / 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

export const stepName = (step: number | undefined): string =>
  step === undefined ? 'A step' : `Step ${step}`;

/** ` It waited 3.2 s for a free worker.` */
export const queued = (ms: number | undefined): string =>
  ms === undefined ? '' : ` It waited ${duration(ms)} for a free worker.`;
