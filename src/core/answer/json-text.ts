/** Finds the end and depth of JSON in a model's text without parsing it: the text may be of any size. Linear. */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Index after the closing quote of the string that opens at `from`; the text's length if it is not closed. */
export function endOfString(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === BACKSLASH) at += 1;
    else if (unit === QUOTE) return at + 1;
  }
  return text.length;
}

export interface Bracketed {
  /** Index after the bracket that closes the one at `from`; undefined if none does. */
  readonly end: number | undefined;
  /** Nesting depth, the outermost bracket included. */
  readonly depth: number;
}

/** Finds the end of the bracket at `from`. Brackets within strings are ignored; kinds are not distinguished. */
export function findBracketed(text: string, from: number): Bracketed {
  let open = 0;
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '"') at = endOfString(text, at) - 1;
    else if ('{[('.includes(character)) {
      open += 1;
      depth = Math.max(depth, open);
    } else if ('}])'.includes(character)) {
      open -= 1;
      if (open === 0) return { end: at + 1, depth };
    }
  }
  return { end: undefined, depth };
}

/** Returns the text with each part (a string, or the text between strings) replaced by the result of `rewrite`. */
export function rewriteJson(text: string, rewrite: (part: string, isString: boolean) => string): string {
  const parts: string[] = [];
  let at = 0;
  while (at < text.length) {
    const quote = text.indexOf('"', at);
    const stop = quote < 0 ? text.length : quote;
    parts.push(rewrite(text.slice(at, stop), false));
    if (quote < 0) break;
    at = endOfString(text, quote);
    parts.push(rewrite(text.slice(quote, at), true));
  }
  return parts.join('');
}
