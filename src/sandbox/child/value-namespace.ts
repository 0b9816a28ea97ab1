/**
 * Namespaces that hold values. Erasure drops every namespace without a word, and the program would fail later with a
 * ReferenceError, so one with values is refused where it stands. What holds types alone, or is declared only, stays
 * legal. An exotic form may slip through (a bare expression as a namespace's only statement); a legal program must not
 * be refused.
 */
import { positionAt, SourceError, type SourceModule } from './source-module.ts';
import { readTokens, TokenType as T, type Token } from './tokens.ts';

const OPENING: ReadonlySet<number> = new Set([T.braceL, T.parenL, T.bracketL, T.dollarBraceL]);
const CLOSING: ReadonlySet<number> = new Set([T.braceR, T.parenR, T.bracketR]);
const VALUES: ReadonlySet<number> = new Set([T._const, T._let, T._var, T._function, T._class, T._enum]);
/** Inside types even these stay plain names. */
const VALUE_WORDS: ReadonlySet<string> = new Set(['enum']);

export function refuseValueNamespaces({ name, source }: SourceModule): void {
  if (!/\b(?:namespace|module)\b/.test(source)) return;
  let tokens: readonly Token[];
  try {
    tokens = readTokens(source);
  } catch {
    // The erasure that follows meets the same error and reports it.
    return;
  }
  const found = findValueNamespace(source, tokens);
  if (found === undefined) return;
  const message =
    'A namespace with values is not supported in the sandbox, where types are only erased: use a module or an object.';
  throw new SourceError(name, message, positionAt(source, found));
}

/** The offset of the outermost one. */
function findValueNamespace(source: string, tokens: readonly Token[]): number | undefined {
  const textOf = (index: number) => {
    const token = tokens[index];
    return token ? source.slice(token.start, token.end) : '';
  };
  const isDeclared = (index: number) => textOf(index - 1) === 'declare' || textOf(index - 2) === 'declare';

  /** Where the body of the namespace, module or global block that begins at `index` opens. */
  const bodyOf = (index: number): number | undefined => {
    const word = textOf(index);
    let at = index + 1;
    if (word === 'namespace' || word === 'module') {
      if (tokens[at]?.type !== T.name && tokens[at]?.type !== T.string) return undefined;
      at += 1;
      while (tokens[at]?.type === T.dot) at += 2;
    } else if (word !== 'global') return undefined;
    return tokens[index]?.isType && tokens[at]?.type === T.braceL ? at : undefined;
  };
  const closeOf = (open: number): number => {
    let depth = 0;
    for (let at = open; at < tokens.length; at += 1) {
      const { type } = tokens[at] as Token;
      if (OPENING.has(type)) depth += 1;
      else if (CLOSING.has(type) && --depth === 0) return at;
    }
    return tokens.length;
  };
  const isValue = (index: number): boolean =>
    (VALUES.has((tokens[index] as Token).type) || VALUE_WORDS.has(textOf(index))) &&
    tokens[index - 1]?.type !== T.dot &&
    !isDeclared(index);
  const holdsValue = (open: number): boolean => {
    const close = closeOf(open);
    for (let at = open + 1; at < close; at += 1) {
      const nested = bodyOf(at);
      if (nested !== undefined) {
        if (!isDeclared(at) && holdsValue(nested)) return true;
        at = closeOf(nested);
      } else if (OPENING.has((tokens[at] as Token).type)) at = closeOf(at);
      else if (isValue(at)) return true;
    }
    return false;
  };

  for (let at = 0; at < tokens.length; at += 1) {
    const body = bodyOf(at);
    if (body === undefined) continue;
    if (!isDeclared(at) && textOf(at) !== 'global' && holdsValue(body)) return tokens[at]?.start;
    at = closeOf(body);
  }
  return undefined;
}
