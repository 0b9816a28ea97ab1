/**
 * Finds imports that the erasure drops because nothing uses them as a value. §13.2 requires linkage to fail for any
 * unknown specifier, so the dropped ones are still linked, for their side effects only. `import type` and clauses with
 * only `type` names stay erased.
 */
import type { Import, StaticImport } from 'es-module-lexer';
import { eraseTypes } from './erase-types.ts';
import { readImports } from './rewrite.ts';
import type { SourceModule } from './source-module.ts';

const EMPTY_CLAUSE = /^(?:import|export)\s*\{[\s,]*\}\s*from\b/;

/** `kept` are the imports of the erased text. */
export function elidedSpecifiers(module: SourceModule, kept: readonly Import[]): readonly string[] {
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
