/**
 * Removes secrets from a text, in each of the forms that docs/operations.md lists. The text is decoded, one level of
 * escapes after the other. Each level is searched as it is, as digits of base64 and hex, and, for secrets of several
 * lines, without its spaces; so mixed forms are found like plain ones.
 * - Redaction is linear in the text for any secrets: it writes and searches a bounded number of views, each once.
 * R1. Within base64 or hex, a secret below six bytes counts only if nothing else was encoded: other matches are chance.
 * - Replacements are never searched again.
 * - A text that ends with `…` was cut: the beginning of a secret directly before the cut is removed too.
 *
 * The patterns to search for one secret. Texts are decoded before they are searched, so a secret has few forms:
 * - The value, and each form that decoding makes of it, since it may contain what looks like an escape.
 * - Each form of F1 with `+` for its spaces, as HTML forms and Python's quote_plus write them.
 * - For a value of several lines, each line that is long enough to be distinctive (not the armour of a PEM); and the value without
 *   spaces and line breaks, which is searched in texts without them.
 */

import { type Automaton, createAutomaton, type Pattern, type Search } from './automaton.ts';
import { decodedViews } from './digits.ts';
import { createRangeList, type Range, union } from './ranges.ts';
import { unescapeOnce } from './unescape.ts';
import { encode, endOf, SEPARATOR, startOf, type View, viewOf, withoutSpaces } from './view.ts';

export interface Secret {
  readonly value: string;
  /** Its replacement. */
  readonly mark: string;
}

export interface Redactor {
  /** Number of table states plus bytes of patterns. Memory use is at most about twenty times that, in bytes. */
  readonly weight: number;
  redact(text: string): string;
  /** `steps`: bytes of views plus moves within tables, a measure of the time spent. */
  measure(text: string): { readonly text: string; readonly steps: number };
}

/** R1: shorter secrets count only as a whole run of digits. */
const SHORTEST_PIECE = 6;
/** Total bytes of lines that are searched for separately; further lines are found only within their whole value. */
const LINE_BYTES = 1024 * 1024;
/** The mark of a cut, and the fewest bytes of a secret that are removed before it. */
const CUT_MARK = '…';
const SHORTEST_BEGINNING = 8;
/** Matches what may be a cut-off escape at the end of a text. */
const CUT_ESCAPE = /(?:\\(?:[xuU]\{?[0-9a-fA-F]{0,8})?|%[0-9a-fA-F]?|&#?\w{0,9})$/;

export function buildRedactor(secrets: readonly Secret[]): Redactor {
  const { plain, joined } = toPatterns(secrets);
  const machines = {
    plain: createAutomaton(plain),
    joined: joined.length > 0 ? createAutomaton(joined) : null,
  };
  const measure = (text: string) => {
    const { ranges, steps } = findAll(text, machines);
    return { text: replace(text, ranges, secrets), steps };
  };
  const bytes = [...plain, ...joined].reduce((sum, pattern) => sum + pattern.bytes.length, 0);
  const weight = bytes + machines.plain.states + (machines.joined?.states ?? 0);
  return { weight, redact: (text) => measure(text).text, measure };
}

function toPatterns(secrets: readonly Secret[]): { plain: Pattern[]; joined: Pattern[] } {
  const forms = secrets.map(({ value }) => formsOf(value));
  const own = (list: readonly Uint8Array[], owner: number) => list.map((bytes) => ({ bytes, owner }));
  let left = LINE_BYTES;
  const lines = forms
    .flatMap((each, owner) => own(each.lines, owner))
    .filter(({ bytes }) => {
      left -= bytes.length;
      return left >= 0;
    });
  return {
    plain: [...forms.flatMap((each, owner) => own(each.plain, owner)), ...lines],
    joined: forms.flatMap((each, owner) => own(each.joined, owner)),
  };
}

interface Machines {
  readonly plain: Automaton;
  /** The automaton for texts without their spaces. */
  readonly joined: Automaton | null;
}

interface Found {
  readonly ranges: readonly Range[];
  readonly steps: number;
}

function findAll(text: string, machines: Machines): Found {
  const cut = text.endsWith(CUT_MARK);
  let ranges: readonly Range[] = [];
  let steps = 0;
  const add = (view: View, { search }: Automaton) => {
    const found = search(
      view.bytes,
      view.digits ? (start, end) => isKnown(view.bytes, start, end) : undefined,
    );
    steps += view.bytes.length + found.steps;
    for (const finds of found.finds) ranges = union(ranges, toRanges(view, finds));
    if (cut) ranges = union(ranges, toBeginning(view, found));
  };
  let level: View | undefined = viewOf(cut ? stemOf(text) : text);
  for (let depth = 0; level && depth <= LEVELS; depth++) {
    add(level, machines.plain);
    for (const view of decodedViews(level)) add(view, machines.plain);
    if (machines.joined) add(withoutSpaces(level), machines.joined);
    level = unescapeOnce(level);
  }
  return { ranges, steps };
}

/** The text before the cut, without a partial escape. Matches only the end: else every position would be tried. */
function stemOf(text: string): string {
  const end = text.slice(-CUT_MARK.length - 12, -CUT_MARK.length);
  const partial = CUT_ESCAPE.exec(end)?.[0].length ?? 0;
  return text.slice(0, text.length - CUT_MARK.length - partial);
}

/** Converts ranges of a view to ranges of the text; neighbouring finds may share a digit. */
function toRanges(view: View, finds: readonly Range[]): readonly Range[] {
  const list = createRangeList();
  for (const { start, end, owner } of finds) list.add(startOf(view, start), endOf(view, end - 1), owner);
  return list.ranges;
}

/** R1: true if a find within decoded digits is long enough, or is a whole run. */
function isKnown(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start >= SHORTEST_PIECE) return true;
  return (bytes[start - 1] ?? SEPARATOR) === SEPARATOR && (bytes[end] ?? SEPARATOR) === SEPARATOR;
}

/** The beginning of a secret directly before the cut. */
function toBeginning(view: View, { tail }: Search): Range[] {
  if (tail.length < SHORTEST_BEGINNING) return [];
  const end = view.bytes.length;
  return [{ start: startOf(view, end - tail.length), end: endOf(view, end - 1), owner: tail.owner }];
}

/** Replaces all finds in one pass over the original. */
function replace(text: string, ranges: readonly Range[], secrets: readonly Secret[]): string {
  if (ranges.length === 0) return text;
  const parts: string[] = [];
  let at = 0;
  for (const { start, end, owner } of ranges) {
    parts.push(text.slice(at, start), (secrets[owner] as Secret).mark);
    at = end;
  }
  return parts.join('') + text.slice(at);
}

/** Levels of nested escapes that are decoded in texts and secrets. */
const LEVELS = 6;
/** The shortest decoded form in characters: shorter ones would match ordinary text. */
const SHORTEST_DECODED = 4;
/** The shortest line in characters that is searched on its own, and the shortest value without its spaces. */
const SHORTEST_LINE = 16;
const ARMOUR = /^-----(BEGIN|END) [^-]*-----$/;

interface SecretForms {
  readonly plain: readonly Uint8Array[];
  readonly lines: readonly Uint8Array[];
  /** Forms without spaces and line breaks. */
  readonly joined: readonly Uint8Array[];
}

function formsOf(value: string): SecretForms {
  const plain = withPlus(decodedForms(value));
  const trimmed = value.trim();
  if (!/[\r\n]/.test(trimmed)) return { plain, lines: [], joined: [] };
  const lines = trimmed
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line.length >= SHORTEST_LINE && !ARMOUR.test(line));
  const joined = withoutSpaces({ bytes: encode(trimmed) }).bytes;
  return { plain, lines: lines.map(encode), joined: joined.length < SHORTEST_LINE ? [] : [joined] };
}

/** The value and its decoded forms. */
function decodedForms(value: string): Uint8Array[] {
  const forms = [encode(value)];
  let bytes: Uint8Array | undefined = forms[0];
  for (let level = 0; level < LEVELS && bytes; level++) {
    bytes = unescapeOnce({ bytes })?.bytes;
    if (bytes && new TextDecoder().decode(bytes).trim().length >= SHORTEST_DECODED) forms.push(bytes);
  }
  return forms;
}

/** `+` for spaces. */
function withPlus(forms: readonly Uint8Array[]): Uint8Array[] {
  return forms.flatMap((bytes) =>
    bytes.includes(0x20) ? [bytes, bytes.map((byte) => (byte === 0x20 ? 0x2b : byte))] : [bytes],
  );
}
