/**
 * The arguments of a call, from the text that a model wrote. What is a JSON object is never touched; else the rules below are tried in
 * their order, and a text that none of them explains is refused: its call is not made, and the model is told.
 * A1. Nothing is made up. What is open is never closed, so arguments that were cut off are never run with a part of them.
 * A2. Repairing what was repaired changes nothing.
 */
import { LIMITS } from '../value/limit.ts';
import { parseRecord } from '../value/record.ts';
import { endOfString, findBracketed, rewriteJson } from './json-text.ts';

export const ARGUMENT_REPAIRS = [
  /** `null` stands for no arguments. */
  'null',
  /** The object was a JSON text within a JSON text. */
  'unquoted',
  /** There was something around the one object that opens nothing else: words, a fence, a bracket too many. */
  'unwrapped',
  /** Line breaks and other control characters stood in its texts as they are. */
  'escaped',
  /** A comma stood before a closing bracket. */
  'commas',
] as const;

export type ArgumentRepair = (typeof ARGUMENT_REPAIRS)[number];

export interface ReadArguments {
  readonly value: Readonly<Record<string, unknown>>;
  /** What it took, in the order of the rules; none where the text is a JSON object, or empty. */
  readonly repairs: readonly ArgumentRepair[];
}

/** Undefined for what is no object, and cannot be repaired into one. An empty text means no arguments. */
export function readArguments(text: string): ReadArguments | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return { value: {}, repairs: [] };
  if (trimmed === 'null') return { value: {}, repairs: ['null'] };
  const inner = unquote(trimmed);
  const given = (inner ?? trimmed).trim();
  const only = onlyObject(given);
  if (only === undefined) return undefined;
  const before: readonly ArgumentRepair[] = [
    ...(inner === undefined ? [] : (['unquoted'] as const)),
    ...(only === given ? [] : (['unwrapped'] as const)),
  ];
  for (const { repairs, mend } of MENDED) {
    const value = parseRecord(mend(only));
    if (value) return { value, repairs: [...before, ...repairs] };
  }
  return undefined;
}

/** Why a text is refused, for the model that wrote it. */
export function describeArguments(text: string): string {
  const start = text.search(/[{[]/);
  const isOpen = start >= 0 && findBracketed(text, start).end === undefined;
  return isOpen
    ? 'the arguments are not a JSON object: they were cut off before their end. Call it again with all of them, shorter, or in several calls'
    : 'the arguments are not a JSON object';
}

interface Mending {
  readonly repairs: readonly ArgumentRepair[];
  readonly mend: (text: string) => string;
}

const MENDED: readonly Mending[] = [
  { repairs: [], mend: (text) => text },
  { repairs: ['escaped'], mend: escapeControls },
  { repairs: ['commas'], mend: dropCommas },
  { repairs: ['escaped', 'commas'], mend: (text) => dropCommas(escapeControls(text)) },
];

/** The text that a JSON string is; undefined for anything else. */
function unquote(text: string): string | undefined {
  if (!text.startsWith('"') || endOfString(text, 0) !== text.length) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? value : undefined;
  } catch {
    // An open string.
    return undefined;
  }
}

/** A1: of one complete object and what stands around it, the object. Undefined where anything else opens, or it does not close. */
function onlyObject(text: string): string | undefined {
  const start = text.indexOf('{');
  if (start < 0 || /[[\]}"]/.test(text.slice(0, start))) return undefined;
  const { end, depth } = findBracketed(text, start);
  if (end === undefined || depth > LIMITS.jsonDepth || /[{["]/.test(text.slice(end))) return undefined;
  return text.slice(start, end);
}

function escapeControls(text: string): string {
  return rewriteJson(text, (part, isString) =>
    isString
      ? // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
        part.replace(/[\u0000-\u001f]/g, (character) => JSON.stringify(character).slice(1, -1))
      : part,
  );
}

function dropCommas(text: string): string {
  return rewriteJson(text, (part, isString) => (isString ? part : part.replace(/,(?=\s*[}\]])/g, '')));
}
