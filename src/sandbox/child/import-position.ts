/**
 * Finds where a module imports another. V8 reports no position for linker errors, so it is read from the author's own
 * text; the lexer understands TypeScript too. Used only for errors.
 */
import type { StaticImport } from 'es-module-lexer';
import { readImports } from './rewrite.ts';
import { type Position, positionAt, type SourceModule } from './source-module.ts';

/** Returns the position of the specifier or, with `exportName`, of that name in the clause of the import. */
export function locateImport(
  { source }: SourceModule,
  specifier: string,
  exportName?: string,
): Position | undefined {
  for (const each of readImports(source) ?? []) {
    if (each.type !== 'static' && each.type !== 'reexport-star') continue;
    if (each.specifier !== specifier || each.typeOnly) continue;
    // Position of the opening quote.
    if (exportName === undefined) return positionAt(source, each.start - 1);
    const offset = nameOffset(source, each, exportName);
    if (offset !== undefined) return positionAt(source, offset);
  }
  return undefined;
}

export interface MissingExport extends Position {
  readonly filename: string;
  readonly specifier: string;
}

/** Parses V8's message about a name that a module does not export, and finds the import that requests it. */
export function locateMissingExport(
  message: string,
  modules: Iterable<SourceModule>,
): MissingExport | undefined {
  const match =
    /^The requested module '(.*)' (?:does not provide an export named|contains conflicting star exports for name) '(.*?)'/s.exec(
      message,
    );
  const [, specifier, name] = match ?? [];
  if (specifier === undefined || name === undefined) return undefined;
  for (const module of modules) {
    const position = locateImport(module, specifier, name);
    if (position) return { ...position, filename: module.name, specifier };
  }
  return undefined;
}

function nameOffset(source: string, { importStart, start }: StaticImport, name: string): number | undefined {
  const clause = source.slice(importStart, start - 1);
  for (const { 0: word, index } of clause.matchAll(/[\w$\u0080-\uffff]+/g)) {
    if (word === name) return importStart + index;
  }
  // A clause that binds the default export does not contain its name.
  const binding = name === 'default' ? /^import\s+(?=[\w$])/.exec(clause) : null;
  return binding ? importStart + binding[0].length : undefined;
}
