/**
 * A module's source, made ready for the engine (§13.2, 13.6): types erased, `import()` and `import.meta` under names
 * of our own, and the run's globals as bindings of the module.
 *
 * I1  No line moves, and no column of what is left after erasure: additions stand on one line after the last.
 *     Imports are hoisted, so the bindings hold from line 1 all the same.
 * I2  Whatever the source is, the additions never complete it. They begin with `import`, which no unfinished
 *     statement takes; a leading `;` would have made a program of `while (true)`.
 * I3  The internal specifier is the caller's random one: user code cannot import it by guessing.
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
  /** What the module's internal imports come from: a nonce of this module's own. */
  readonly specifier: string;
  /** Identifiers to bind: the first is the internal module's export `g0`, the second `g1`, and so on. */
  readonly globals: readonly string[];
}

export interface PreparedModule {
  /** Compile this. With some of the globals only, when the module declares the others itself. */
  compose(globals?: readonly string[]): string;
  /** Compile this when `compose()` is a SyntaxError: V8 then tells the author's own mistake, at its place. */
  readonly bare: string;
  /** Whether `meta` and `load` are asked of the internal module. */
  readonly usesMeta: boolean;
  readonly usesLoad: boolean;
}

/** Compiles the lexer and warms the erasure up, so that a process's first run does not pay for it. */
export async function prepareTransform(): Promise<void> {
  await init();
  const source = 'export const a: number = 1; export default import.meta.url;';
  prepareModule({ name: 'warm-up', source, language: 'typescript' }, { specifier: 'warm-up', globals: [] });
}

/** Throws a SourceError for what can be told without compiling. */
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
      // The last such comment counts, and an empty one undoes the author's: it would rename the source in stacks.
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
    // The erasure does not know these forms and would only call them unexpected.
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
