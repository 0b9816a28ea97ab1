/**
 * Finds lines in text that comes in pieces. Runs in a thread of its own (search-thread.ts), since a regular expression
 * may compute for ever and nothing but the end of its thread stops it.
 * A line that is longer than LONGEST is searched in parts of that length.
 */
import { LIMITS } from '../../core/value/limit.ts';
import type { FoundLines } from './protocol.ts';

const LONGEST = 1024 * 1024;

/** JavaScript, without flags; what is none means itself (definitions §22.29). */
export function compilePattern(pattern: string): (line: string) => boolean {
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

  /** What was found, once the last piece is in; then the next file may begin. */
  take(data: Uint8Array, isLast: boolean): FoundLines | null {
    const text = this.#rest + this.#decoder.decode(data, { stream: !isLast });
    let at = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', at)) {
      this.#test(text.slice(at, text[end - 1] === '\r' && end > at ? end - 1 : end));
      this.#line += 1;
      at = end + 1;
    }
    this.#rest = text.slice(at);
    for (; this.#rest.length > LONGEST; this.#rest = this.#rest.slice(LONGEST))
      this.#test(this.#rest.slice(0, LONGEST));
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

/** A part of a text keeps the whole of it in memory; this one does not. */
function detach(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string;
}
