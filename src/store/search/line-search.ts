/**
 * Finds lines in text that arrives in pieces. Runs in a separate thread (search-thread.ts), since a regular expression
 * may never end and only ending its thread stops it.
 * A line longer than MAX_LINE_CHARS is searched in parts of that length.
 */
import { LIMITS } from '../../core/value/limit.ts';
import type { FoundLines } from './protocol.ts';

const MAX_LINE_CHARS = 1024 * 1024;

/**
 * Compiles a JavaScript regular expression without flags; a text that is none is searched for literally (definitions
 * §22.29).
 */
function compilePattern(pattern: string): (line: string) => boolean {
  try {
    const expression = new RegExp(pattern);
    return (line) => expression.test(line);
  } catch {
    return (line) => line.includes(pattern);
  }
}

export class LineSearch {
  readonly #matches: (line: string) => boolean;
  #decoder = new TextDecoder();
  #rest = '';
  #line = 1;
  #found: { matches: string[]; lineNumbers: number[] } = { matches: [], lineNumbers: [] };

  constructor(pattern: string) {
    this.#matches = compilePattern(pattern);
  }

  /** Searches a piece of a file. Returns what was found in the whole file with its last piece, else null. */
  take(data: Uint8Array, isLast: boolean): FoundLines | null {
    const text = this.#rest + this.#decoder.decode(data, { stream: !isLast });
    let at = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', at)) {
      this.#test(text.slice(at, text[end - 1] === '\r' && end > at ? end - 1 : end));
      this.#line += 1;
      at = end + 1;
    }
    this.#rest = text.slice(at);
    for (; this.#rest.length > MAX_LINE_CHARS; this.#rest = this.#rest.slice(MAX_LINE_CHARS))
      this.#test(this.#rest.slice(0, MAX_LINE_CHARS));
    if (!isLast) return null;
    if (this.#rest !== '') this.#test(this.#rest);
    const found = this.#found;
    this.#found = { matches: [], lineNumbers: [] };
    this.#decoder = new TextDecoder();
    this.#rest = '';
    this.#line = 1;
    return found;
  }

  #test(line: string): void {
    const { matches, lineNumbers } = this.#found;
    if (matches.length >= LIMITS.foundLines || lineNumbers.at(-1) === this.#line) return;
    if (!this.#matches(line)) return;
    matches.push(detach(line.slice(0, LIMITS.foundLineChars)));
    lineNumbers.push(this.#line);
  }
}

/** Copies a text: a substring of a long text keeps the whole of it in memory. */
function detach(text: string): string {
  return JSON.parse(JSON.stringify(text));
}
