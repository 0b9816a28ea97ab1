/**
 * Takes secrets out of texts that are about to be written (definitions §16): each becomes `[secret NAME]`.
 * X1. A secret is found as it is, as JSON writes it (also within JSON within JSON), as URLs write it, and in base64, where
 *     it may stand in the middle of something larger.
 * X2. Secrets shorter than four characters are left, and so are the words of JSON: they would tear ordinary text apart.
 * X3. Finds that overlap are one: no piece of either stays. What was put in is never searched again.
 */
import type { Variable } from '../core/env.ts';

export type Redact = (text: string) => string;

const SHORTEST_SECRET = 4;
/** JSON within JSON, so many times. */
const NESTED_JSON = 4;
/** Of a piece of base64 that is cut out of the middle: below, it could be anything. */
const SHORTEST_PIECE = 8;
const ORDINARY = new Set(['true', 'false', 'null']);

interface Form {
  readonly text: string;
  readonly name: string;
}

export function createRedactor(secrets: readonly Pick<Variable, 'name' | 'value'>[]): Redact {
  const forms = new Map<string, string>();
  for (const { name, value } of secrets) {
    if (value.length < SHORTEST_SECRET || ORDINARY.has(value)) continue;
    for (const text of formsOf(value)) if (!forms.has(text)) forms.set(text, name);
  }
  const list = [...forms].map(([text, name]) => ({ text, name }));
  return list.length === 0 ? (text) => text : (text) => replaceAll(text, list);
}

/** X1. */
function formsOf(value: string): Set<string> {
  const json = [value];
  for (let depth = 1; depth <= NESTED_JSON; depth++) {
    json.push(JSON.stringify(json.at(-1)).slice(1, -1));
  }
  const url = encodeURIComponent(value.toWellFormed());
  const form = new URLSearchParams({ v: value }).toString().slice('v='.length);
  const urls = [url, form].flatMap((text) => [
    text,
    text.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
  ]);
  return new Set([...json, ...urls, ...base64Of(value)]);
}

/** Whole, and the digits that depend on the secret alone wherever it begins; each also in the alphabet of URLs. */
function base64Of(value: string): string[] {
  const bytes = Buffer.from(value, 'utf8');
  const pieces = [0, 1, 2].map((before) => {
    const digits = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    const first = Math.ceil((before * 8) / 6);
    return digits.slice(first, Math.floor(((before + bytes.length) * 8) / 6));
  });
  const whole = bytes.toString('base64');
  const found = [whole, whole.replace(/=+$/, ''), ...pieces.filter(({ length }) => length >= SHORTEST_PIECE)];
  return found.flatMap((text) => [text, text.replaceAll('+', '-').replaceAll('/', '_')]);
}

interface Find {
  readonly start: number;
  end: number;
  readonly name: string;
}

function replaceAll(text: string, forms: readonly Form[]): string {
  const finds = forms.flatMap((form) => findAll(text, form));
  if (finds.length === 0) return text;
  // Of two that begin together the longer one names the find.
  finds.sort((a, b) => a.start - b.start || b.end - a.end);
  const merged: Find[] = [];
  for (const find of finds) {
    const last = merged.at(-1);
    if (last && find.start < last.end) last.end = Math.max(last.end, find.end);
    else merged.push(find);
  }
  let at = 0;
  let result = '';
  for (const { start, end, name } of merged) {
    result += `${text.slice(at, start)}[secret ${name}]`;
    at = end;
  }
  return result + text.slice(at);
}

function findAll(text: string, { text: form, name }: Form): Find[] {
  const finds: Find[] = [];
  for (let start = text.indexOf(form); start >= 0; start = text.indexOf(form, start + 1)) {
    const last = finds.at(-1);
    // A form may overlap itself: "aaaa" in "aaaaa".
    if (last && start < last.end) last.end = start + form.length;
    else finds.push({ start, end: start + form.length, name });
  }
  return finds;
}
