/** Where JSON in the text of a model ends, and how deep it is, without parsing it: such text may be of any size and shape. Linear. */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Behind the closing quote of the string that opens at `from`; the text's length where it does not close. */
export function endOfString(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === BACKSLASH) at += 1;
    else if (unit === QUOTE) return at + 1;
  }
  return text.length;
}

export interface Bracketed {
  /** Behind the bracket that closes the one at `from`; undefined where none does. */
  readonly end: number | undefined;
  /** Levels of brackets, the outermost included. */
  readonly depth: number;
}

/** What the bracket at `from` encloses. Brackets within strings do not count; kinds are not told apart. */
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

/** The text with what `rewrite` makes of each of its parts: strings, and what stands between them. */
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
