/** `.json` modules (definitions §19.4): the text itself, validated, as the default export. */
import { positionAt, SourceError, type SourceModule } from './source-module.ts';

/**
 * JSON is a JavaScript expression, with one exception: a key `__proto__` sets the prototype. Such keys are written as
 * computed ones. The text is not passed to the code's own `JSON.parse`, which it may have replaced, nor serialised
 * again, which would lose `-0` and `1e999`.
 */
export function toJsonModule({ name, source }: SourceModule): string {
  try {
    JSON.parse(source);
  } catch (error) {
    throw toSourceError((error as Error).message, name, source);
  }
  return `export default ${ownProtoKeys(source)}`;
}

/** `text` is valid JSON, so every quote outside a string begins one. */
function ownProtoKeys(text: string): string {
  if (!/__proto__|\\u/.test(text)) return text;
  let out = '';
  let written = 0;
  for (let open = text.indexOf('"'); open !== -1; ) {
    const end = findStringEnd(text, open);
    const literal = text.slice(open, end);
    if (isKey(text, end) && JSON.parse(literal) === '__proto__') {
      out += `${text.slice(written, open)}[${literal}]`;
      written = end;
    }
    open = text.indexOf('"', end);
  }
  return out + text.slice(written);
}

function findStringEnd(text: string, open: number): number {
  let at = open + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function isKey(text: string, end: number): boolean {
  let at = end;
  while (' \t\n\r'.includes(text[at] ?? '!')) at += 1;
  return text[at] === ':';
}

/** V8 reports the position within the message, or quotes a short text instead. */
function toSourceError(message: string, name: string, source: string): SourceError {
  const match = / at position (\d+)(?: \(line \d+ column \d+\))?$/.exec(message);
  if (match)
    return new SourceError(name, message.slice(0, match.index), positionAt(source, Number(match[1])));
  const atEnd = message === 'Unexpected end of JSON input';
  return new SourceError(name, message, atEnd ? positionAt(source, source.length) : undefined);
}
