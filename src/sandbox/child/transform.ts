/**
 * Prepares a module's source for the engine (§13.2, 13.6): erases types, renames `import()` and `import.meta`, and
 * binds the run's globals in the module.
 *
 * - Additions move no line, and no column of the erased text: they are one line after the last.
 *   Imports are hoisted, so the bindings are valid from line 1 on.
 * - Additions never complete an unfinished source. They begin with `import`, which no unfinished statement accepts;
 *   a leading `;` would make a program of `while (true)`.
 * - The internal specifier is a random one from the caller: user code cannot import it by guessing.
 */

import { type Import, init, type StaticImport } from 'es-module-lexer';
import { eraseTypes } from './erase-types.ts';
import { createErasureMap } from './erasure-map.ts';
import { findUnsupported, type Rewritten, readImports, rewriteImports } from './rewrite.ts';
import { isJson, type Position, positionAt, SourceError, type SourceModule } from './source-module.ts';

export { isSourceError, type Position, SourceError, type SourceModule } from './source-module.ts';

export interface Inner {
  /** Specifier of the module's internal imports: a nonce of this module. */
  readonly specifier: string;
  /** Identifiers to bind: the first is the internal module's export `g0`, the second `g1`, and so on. */
  readonly globals: readonly string[];
}

export interface PreparedModule {
  /** The text to compile. Pass fewer globals if the module declares the others itself. */
  compose(globals?: readonly string[]): string;
  /** The text to compile if `compose()` is a SyntaxError: V8 then reports the author's own mistake, at its position. */
  readonly bare: string;
  /** Whether `meta` and `load` are imported from the internal module. */
  readonly usesMeta: boolean;
  readonly usesLoad: boolean;
}

/** Compiles the lexer and warms the erasure up, so that a process's first run does not pay for it. */
export async function prepareTransform(): Promise<void> {
  await init();
  const source = 'export const a: number = 1; export default import.meta.url;';
  prepareModule({ name: 'warm-up', source, language: 'typescript' }, { specifier: 'warm-up', globals: [] });
}

/** Throws a SourceError for mistakes that are detected without compiling. */
export function prepareModule(module: SourceModule, inner: Inner): PreparedModule {
  if (isJson(module)) {
    const code = toJsonModule(module);
    return { compose: () => code, bare: code, usesMeta: false, usesLoad: false };
  }
  const erased = module.language === 'typescript' ? erase(module) : module.source;
  const imports = readImports(erased);
  if (imports) refuseUnsupported(module, erased, imports);
  const { text, meta, load }: Rewritten = imports ? rewriteImports(erased, imports) : { text: erased };
  const elided = imports && module.language === 'typescript' ? elidedSpecifiers(module, imports) : [];
  return {
    compose(globals = inner.globals) {
      const bindings = [
        ...(meta ? [`meta as ${meta}`] : []),
        ...(load ? [`load as ${load}`] : []),
        ...inner.globals.flatMap((name, index) => (globals.includes(name) ? [`g${index} as ${name}`] : [])),
      ];
      const own =
        bindings.length > 0 ? `import{${bindings.join(',')}}from${JSON.stringify(inner.specifier)};` : '';
      const rest = elided.map((specifier) => `import${JSON.stringify(specifier)};`).join('');
      // The last `sourceURL` counts: an empty one cancels the author's, which would rename the source in stacks.
      return `${text}\n${own}${rest}//# sourceURL=`;
    },
    bare: erased,
    usesMeta: meta !== undefined,
    usesLoad: load !== undefined,
  };
}

function erase(module: SourceModule): string {
  try {
    return eraseTypes(module);
  } catch (error) {
    // The erasure does not know these forms and would only report them as unexpected.
    const unsupported = findUnsupported(module.source, readImports(module.source) ?? []);
    if (unsupported) {
      throw new SourceError(module.name, unsupported.message, positionAt(module.source, unsupported.offset));
    }
    throw error;
  }
}

function refuseUnsupported(module: SourceModule, erased: string, imports: readonly Import[]): void {
  const unsupported = findUnsupported(erased, imports);
  if (!unsupported) return;
  const position = positionAt(erased, unsupported.offset);
  const toAuthors = module.language === 'typescript' ? createErasureMap(module) : (same: Position) => same;
  throw new SourceError(module.name, unsupported.message, toAuthors(position));
}

const EMPTY_CLAUSE = /^(?:import|export)\s*\{[\s,]*\}\s*from\b/;

/**
 * Finds imports that the erasure drops because nothing uses them as a value. §13.2 requires linkage to fail for any
 * unknown specifier, so the dropped ones are still linked, for their side effects only. `import type` and clauses with
 * only `type` names stay erased. `kept` are the imports of the erased text.
 */
function elidedSpecifiers(module: SourceModule, kept: readonly Import[]): readonly string[] {
  if (!/\b(?:import|export)\b/.test(module.source)) return [];
  const all = eraseTypes(module, true);
  const known = new Set(kept.filter(isStatic).map(({ specifier }) => specifier));
  const elided = new Set<string>();
  let authored: readonly Import[] | undefined;
  for (const each of (readImports(all) ?? []).filter(isStatic)) {
    if (known.has(each.specifier) || elided.has(each.specifier)) continue;
    // The clause had only type names, or the author wrote an empty one.
    if (EMPTY_CLAUSE.test(all.slice(each.importStart, each.importEnd))) {
      authored ??= readImports(module.source) ?? [];
      if (!authored.some((its) => isEmptyImportOf(each.specifier, module.source, its))) continue;
    }
    elided.add(each.specifier);
  }
  return [...elided];
}

function isStatic(each: Import): each is StaticImport {
  return each.type === 'static' || each.type === 'reexport-star';
}

function isEmptyImportOf(specifier: string, source: string, its: Import): boolean {
  return its.specifier === specifier && EMPTY_CLAUSE.test(source.slice(its.importStart, its.importEnd));
}

/**
 * `.json` modules (definitions §19.4): the text itself, validated, as the default export. JSON is a JavaScript
 * expression, with one exception: a key `__proto__` sets the prototype. Such keys are written as computed ones. The
 * text is not passed to the code's own `JSON.parse`, which it may have replaced, nor serialised again, which would
 * lose `-0` and `1e999`.
 */
function toJsonModule({ name, source }: SourceModule): string {
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
