/**
 * Replaces `import(` and `import.meta` by identifiers of our own, because the engine passes neither to its host:
 * natively the first rejects and the second is empty. Replacements have the same length, so no line or column moves. If
 * the lexer is wrong, the native behaviour remains, which exposes nothing.
 */
import { randomBytes } from 'node:crypto';
import { type Import, parse, type StaticImport } from 'es-module-lexer';

const IMPORT = 'import';
const META = 'import.meta';

export interface Rewritten {
  readonly text: string;
  /** The identifier that stands for `import.meta`, when it is used. */
  readonly meta?: string;
  /** The identifier that stands for `import` of `import(`, when it is used. */
  readonly load?: string;
}

/** Returns undefined if the text cannot be parsed: V8 then reports why. */
export function readImports(text: string): readonly Import[] | undefined {
  try {
    return parse(text)[0];
  } catch {
    return undefined;
  }
}

export function rewriteImports(text: string, imports: readonly Import[]): Rewritten {
  const needed = (type: Import['type']) => imports.some((each) => each.type === type);
  const meta = needed('import-meta') ? freshName(META.length, text) : undefined;
  const load = needed('dynamic') ? freshName(IMPORT.length, text) : undefined;
  let out = '';
  let written = 0;
  const replace = (start: number, end: number, by: string) => {
    out += text.slice(written, start) + by;
    written = end;
  };
  for (const { type, importStart: start, importEnd } of imports.toSorted(
    (a, b) => a.importStart - b.importStart,
  )) {
    if (!text.startsWith(IMPORT, start)) continue;
    if (type === 'dynamic') replace(start, start + IMPORT.length, load as string);
    if (type === 'import-meta')
      replace(start, importEnd, padTo(text.slice(start, importEnd), meta as string));
  }
  return { text: out + text.slice(written), meta, load };
}

/** Moves what was between the words (space, comments) behind the name, as spaces and the same line breaks. */
function padTo(original: string, name: string): string {
  if (original.length === name.length) return name;
  const between = original.slice(IMPORT.length, -'meta'.length).replace('.', '');
  return name + between.replace(/[^\n\r\u2028\u2029]/g, ' ');
}

export interface Unsupported {
  readonly offset: number;
  readonly message: string;
}

/** Returns the first import of a kind that the sandbox does not support. */
export function findUnsupported(text: string, imports: readonly Import[]): Unsupported | undefined {
  for (const each of imports) {
    if (each.type === 'import-meta') continue;
    const phase = each.phase ?? (each.type === 'static' ? hiddenPhase(text, each) : undefined);
    if (phase) {
      const form = each.type === 'dynamic' ? `import.${phase}()` : `import ${phase}`;
      return { offset: each.importStart, message: `'${form}' is not supported in the sandbox.` };
    }
    const foreign = each.attributes?.find(([key, value]) => key !== 'type' || value !== 'json');
    if (foreign) {
      const message = `The import attribute '${foreign.join(': ')}' is not supported in the sandbox: only 'type: json' is.`;
      return { offset: each.attributesStart, message };
    }
  }
  return undefined;
}

/** Finds a phase that the lexer misses: one between comments, or before a binding named `from`. */
function hiddenPhase(text: string, { importStart, start }: StaticImport): string | undefined {
  const clause = text.slice(importStart, start - 1).replace(/\/\*.*?\*\/|\/\/[^\n\r\u2028\u2029]*/gs, ' ');
  return /^import\s+(source|defer)\s+(?!from\s*$|,)/.exec(clause)?.[1];
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz$_ABCD';

/**
 * Generates identifiers of a given length that do not occur in a text. Random, so that no source can be written to
 * contain the name, not even with escapes. The leading `$` avoids reserved words.
 */
function freshName(length: number, text: string): string {
  for (;;) {
    const letters = Array.from(randomBytes(length - 1), (byte) => LETTERS[byte % LETTERS.length]);
    const name = `$${letters.join('')}`;
    if (!text.includes(name)) return name;
  }
}
