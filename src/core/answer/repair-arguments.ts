/**
 * Reads the arguments of a call from the text that a model wrote. A JSON object is never changed. Otherwise the repairs
 * below are tried in order; a text that none of them makes valid is refused: the call is not made, and the model reads
 * why.
 * - Repairs invent nothing: open brackets are never closed, so arguments that were cut off are never run in part.
 * - Repairing repaired arguments changes nothing.
 */
import { LIMITS } from '../value/limit.ts';
import { parseRecord } from '../value/record.ts';
import { endOfString, findBracketed, rewriteJson } from './json-text.ts';

export const ARGUMENT_REPAIRS = [
  /** `null` stands for no arguments. */
  'null',
  /** The object was encoded as a JSON string. */
  'unquoted',
  /** Text around the object that opens nothing else was removed: words, a fence, an extra bracket. */
  'unwrapped',
  /** Line breaks and other control characters in strings were escaped. */
  'escaped',
  /** A comma before a closing bracket was removed. */
  'commas',
] as const;

export type ArgumentRepair = (typeof ARGUMENT_REPAIRS)[number];

export interface ReadArguments {
  readonly value: Readonly<Record<string, unknown>>;
  /** Repairs in the order of the rules; empty if the text is a JSON object, or empty. */
  readonly repairs: readonly ArgumentRepair[];
}

/** Undefined if the text is not a JSON object and cannot be repaired into one. An empty text means no arguments. */
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
  for (const { repairs, mend } of TEXT_REPAIRS) {
    const value = parseRecord(mend(only));
    if (value) return { value, repairs: [...before, ...repairs] };
  }
  return undefined;
}

/** Returns why a text is refused, for the model that wrote it. */
export function describeArguments(text: string): string {
  const start = text.search(/[{[]/);
  const isOpen = start >= 0 && findBracketed(text, start).end === undefined;
  return isOpen
    ? 'the arguments are not a JSON object: they are incomplete because the answer was cut off. Call the tool again with complete, shorter arguments, or split the work into several calls'
    : 'the arguments are not a JSON object';
}

interface TextRepair {
  readonly repairs: readonly ArgumentRepair[];
  readonly mend: (text: string) => string;
}

const TEXT_REPAIRS: readonly TextRepair[] = [
  { repairs: [], mend: (text) => text },
  { repairs: ['escaped'], mend: escapeControls },
  { repairs: ['commas'], mend: dropCommas },
  { repairs: ['escaped', 'commas'], mend: (text) => dropCommas(escapeControls(text)) },
];

/** Returns the text that a JSON string encodes; undefined for anything else. */
function unquote(text: string): string | undefined {
  if (!text.startsWith('"') || endOfString(text, 0) !== text.length) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? value : undefined;
  } catch {
    // The string is not closed, or not valid JSON.
    return undefined;
  }
}

/** Returns the one complete object without the text around it. Undefined if it is not closed, or not alone. */
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
