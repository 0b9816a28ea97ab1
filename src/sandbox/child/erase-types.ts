/** Converts TypeScript to JavaScript by type erasure only (§13.6): keeps lines but not columns, and checks no types. */
import { type Options, transform } from 'sucrase';
// @ts-expect-error The package has its types in another folder, which TypeScript finds for its index alone.
import { parse as parseUntyped } from 'sucrase/dist/parser/index.js';
// @ts-expect-error
import { TokenType as UntypedTokenType } from 'sucrase/dist/parser/tokenizer/types.js';
import type { File } from 'sucrase/dist/types/parser/index.js';
import type { Token as SucraseToken } from 'sucrase/dist/types/parser/tokenizer/index.js';
import type { TokenType as SucraseTokenType } from 'sucrase/dist/types/parser/tokenizer/types.js';
import { type Position, positionAt, SourceError, type SourceModule } from './source-module.ts';

/**
 * The tokens that the erasure itself reads, with types marked. sucrase's index does not export them, so they are
 * imported from its internals: its version is pinned, and the tests would detect a change.
 */
const parse: (input: string, jsx: boolean, typescript: boolean, flow: boolean) => File = parseUntyped;

type Token = Pick<SucraseToken, 'type' | 'start' | 'end' | 'isType'>;

const T: typeof SucraseTokenType = UntypedTokenType;

/** Throws the same errors as the erasure. */
export function readTokens(source: string): readonly Token[] {
  return parse(source, false, true, false).tokens;
}

const OPTIONS: Options = { transforms: ['typescript'], disableESTransforms: true };

/** Throws a SourceError if the source is invalid. Drops imports not used as a value, unless `keepUnusedImports`. */
export function eraseTypes(module: SourceModule, keepUnusedImports = false): string {
  if (!keepUnusedImports) refuseValueNamespaces(module);
  try {
    return transform(module.source, { ...OPTIONS, keepUnusedImports }).code;
  } catch (error) {
    throw toSourceError(error, module.name);
  }
}

/** Syntax errors of sucrase carry the author's position; deep nesting overflows its stack. */
function toSourceError(error: unknown, name: string): SourceError {
  const { name: kind, loc, message } = error as { name?: unknown; loc?: Position; message?: unknown };
  if (kind === 'RangeError')
    return new SourceError(name, 'The source is nested too deeply to erase its types.');
  const text = String(message).replace(/ \(\d+:\d+\)$/, '');
  return new SourceError(name, text, loc && { line: loc.line, column: loc.column });
}

/**
 * Refuses namespaces that contain values. Erasure drops every namespace silently, and the program would fail later with
 * a ReferenceError, so one with values is reported at its position. Namespaces with only types, or only declared, stay
 * legal. A rare form may be missed (a bare expression as a namespace's only statement); a legal program must never be
 * refused.
 */
const OPENING: ReadonlySet<number> = new Set([T.braceL, T.parenL, T.bracketL, T.dollarBraceL]);
const CLOSING: ReadonlySet<number> = new Set([T.braceR, T.parenR, T.bracketR]);
const VALUES: ReadonlySet<number> = new Set([T._const, T._let, T._var, T._function, T._class, T._enum]);
/** Keywords that are plain names to the tokenizer inside types. */
const VALUE_KEYWORDS: ReadonlySet<string> = new Set(['enum']);

function refuseValueNamespaces({ name, source }: SourceModule): void {
  if (!/\b(?:namespace|module)\b/.test(source)) return;
  let tokens: readonly Token[];
  try {
    tokens = readTokens(source);
  } catch {
    // The erasure that follows meets the same error and reports it.
    return;
  }
  const found = new Namespaces(source, tokens).findOneWithValues();
  if (found === undefined) return;
  const message =
    'A namespace with values is not supported in the sandbox, where types are only erased: use a module or an object.';
  throw new SourceError(name, message, positionAt(source, found));
}

/** The namespaces, modules and global blocks among the tokens of one source. */
class Namespaces {
  readonly #source: string;
  readonly #tokens: readonly Token[];

  constructor(source: string, tokens: readonly Token[]) {
    this.#source = source;
    this.#tokens = tokens;
  }

  /** Returns the offset of the first outermost namespace that contains values. */
  findOneWithValues(): number | undefined {
    for (let at = 0; at < this.#tokens.length; at += 1) {
      const body = this.#bodyOf(at);
      if (body === undefined) continue;
      const counts = !this.#isDeclared(at) && this.#textOf(at) !== 'global';
      if (counts && this.#holdsValue(body)) return this.#tokens[at]?.start;
      at = this.#closeOf(body);
    }
    return undefined;
  }

  /** Returns the index of the token that opens the body of the namespace, module or global block at `index`. */
  #bodyOf(index: number): number | undefined {
    const tokens = this.#tokens;
    const word = this.#textOf(index);
    let at = index + 1;
    if (word === 'namespace' || word === 'module') {
      if (tokens[at]?.type !== T.name && tokens[at]?.type !== T.string) return undefined;
      at += 1;
      while (tokens[at]?.type === T.dot) at += 2;
    } else if (word !== 'global') return undefined;
    return tokens[index]?.isType && tokens[at]?.type === T.braceL ? at : undefined;
  }

  #holdsValue(open: number): boolean {
    const close = this.#closeOf(open);
    for (let at = open + 1; at < close; at += 1) {
      const nested = this.#bodyOf(at);
      if (nested !== undefined) {
        if (!this.#isDeclared(at) && this.#holdsValue(nested)) return true;
        at = this.#closeOf(nested);
      } else if (OPENING.has(this.#typeOf(at))) at = this.#closeOf(at);
      else if (this.#isValue(at)) return true;
    }
    return false;
  }

  #isValue(index: number): boolean {
    return (
      (VALUES.has(this.#typeOf(index)) || VALUE_KEYWORDS.has(this.#textOf(index))) &&
      this.#tokens[index - 1]?.type !== T.dot &&
      !this.#isDeclared(index)
    );
  }

  #isDeclared(index: number): boolean {
    return this.#textOf(index - 1) === 'declare' || this.#textOf(index - 2) === 'declare';
  }

  /** Returns the index of the token that closes the bracket at `open`. */
  #closeOf(open: number): number {
    let depth = 0;
    for (let at = open; at < this.#tokens.length; at += 1) {
      const type = this.#typeOf(at);
      if (OPENING.has(type)) depth += 1;
      else if (CLOSING.has(type) && --depth === 0) return at;
    }
    return this.#tokens.length;
  }

  #typeOf(index: number): Token['type'] {
    return (this.#tokens[index] as Token).type;
  }

  #textOf(index: number): string {
    const token = this.#tokens[index];
    return token ? this.#source.slice(token.start, token.end) : '';
  }
}
