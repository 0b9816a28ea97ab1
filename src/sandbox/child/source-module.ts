/** A module as its author wrote it, and the error for a source that cannot be run. */

export interface SourceModule {
  /** The name that errors show: `lib/a.ts`, or the run's `filename`. */
  readonly name: string;
  readonly source: string;
  readonly language: 'typescript' | 'javascript';
}

/** True for data, whatever the run's language is. */
export function isJson({ name }: SourceModule): boolean {
  return name.endsWith('.json');
}

/** Line and column, both from 1; columns count UTF-16 units, as V8 does. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A source that cannot be run, with a position in the author's text. Recognised by its code. */
export class SourceError extends Error {
  override readonly name = 'SyntaxError';
  readonly code = 'SourceError';
  readonly filename: string;
  readonly line?: number;
  readonly column?: number;

  constructor(filename: string, message: string, position?: Position) {
    super(message);
    this.filename = filename;
    this.line = position?.line;
    this.column = position?.column;
  }
}

export function isSourceError(error: unknown): error is SourceError {
  return (error as Partial<SourceError> | null | undefined)?.code === 'SourceError';
}

export function positionAt(text: string, offset: number): Position {
  let line = 1;
  let start = 0;
  for (let end = text.indexOf('\n'); end !== -1 && end < offset; end = text.indexOf('\n', start)) {
    line += 1;
    start = end + 1;
  }
  return { line, column: offset - start + 1 };
}
