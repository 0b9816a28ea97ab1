/**
 * Prepares a module's source for the engine (§13.2, 13.6): erases types, renames `import()` and `import.meta`, and
 * binds the run's globals in the module.
 *
 * I1  Additions move no line, and no column of the erased text: they are one line after the last.
 *     Imports are hoisted, so the bindings are valid from line 1 on.
 * I2  Additions never complete an unfinished source. They begin with `import`, which no unfinished statement accepts;
 *     a leading `;` would make a program of `while (true)`.
 * I3  The internal specifier is a random one from the caller: user code cannot import it by guessing.
 */
import { type Import, init } from 'es-module-lexer';
import { elidedSpecifiers } from './elided-imports.ts';
import { eraseTypes } from './erase-types.ts';
import { createErasureMap } from './erasure-map.ts';
import { toJsonModule } from './json-module.ts';
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
