/** Converts TypeScript to JavaScript by type erasure only (§13.6): keeps lines but not columns, and checks no types. */
import { type Options, transform } from 'sucrase';
import { type Position, SourceError, type SourceModule } from './source-module.ts';
import { refuseValueNamespaces } from './value-namespace.ts';

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
