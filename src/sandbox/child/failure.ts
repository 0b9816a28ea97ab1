/** Converts failures of a run into errors for its caller: only names, positions and sources of the caller remain. */

import type { CodeExecutionError } from '../../core/author/code-execution.ts';
import { errorMessage } from '../../core/value/thrown.ts';
import { decode } from '../codec/decode.ts';
import type { Wire } from '../codec/wire.ts';
import { NOT_AN_ERROR } from '../guest/describe.ts';
import { SANDBOX_LIMITS } from '../limits.ts';
import { memoryMessage } from '../memory-message.ts';
import type { Job, Settlement } from '../protocol.ts';
import { locateMissingExport } from './import-position.ts';
import { cleanStack, createPositionMapper, locate, splitCompileMessage } from './position.ts';
import { isSourceError, type SourceModule } from './source-module.ts';

/** The module graph could not be built: status `link_error` (definitions §19.3). */
export class LinkFailure extends Error {
  override readonly name = 'LinkFailure';
  readonly told: CodeExecutionError;

  constructor(told: CodeExecutionError) {
    super(told.message);
    this.told = told;
  }
}

type Sources = ReadonlyMap<string, SourceModule>;

/** Converts any error that compiling or linking threw. */
export function toLinkFailure(error: unknown, sources: Sources): LinkFailure {
  if (error instanceof LinkFailure) return error;
  if (isSourceError(error)) {
    const { name, message, filename, line, column } = error;
    return new LinkFailure({ name, message, filename, ...(line && column ? { line, column } : {}) });
  }
  const { name, message } = readThrown(error);
  const problem = splitCompileMessage(message, [...sources.keys()]);
  const missing = locateMissingExport(problem.message, sources.values());
  if (missing) return new LinkFailure({ name, message: problem.message, ...missing });
  const { filename, line, column } = problem;
  const position = filename && line && column ? createPositionMapper(sources)(filename, line, column) : {};
  return new LinkFailure({ name, message: problem.message, ...(filename ? { filename } : {}), ...position });
}

/** Converts any error that the code threw, or that kept it from running. */
export function toFailure(error: unknown, job: Job, sources: Sources = new Map()): Settlement {
  if (error instanceof LinkFailure) return { status: 'link_error', error: error.told };
  const { name, message, stack } = readThrown(error);
  if (name === 'RangeError' && message === 'Array buffer allocation failed') {
    return { status: 'memory', error: { name: 'MemoryError', message: memoryMessage(job.memoryBytes) } };
  }
  const names = [...sources.keys()];
  const map = createPositionMapper(sources);
  const { filename, line, column } = locate(stack, names, message);
  return {
    status: 'error',
    error: {
      name,
      message,
      ...(stack === '' ? {} : { stack: cleanStack(stack, names, map, message) }),
      ...(filename && line && column ? { filename, ...map(filename, line, column) } : {}),
    },
  };
}

/** Returns what `import()` rejects with: a TypeError for an unknown specifier, as elsewhere; others keep their name. */
export function toDynamicError(
  error: unknown,
  sources: Sources,
): { readonly name: string; readonly message: string; readonly stack?: string } {
  const names = [...sources.keys()];
  if (error instanceof LinkFailure) {
    const { name, message, filename, line, column } = error.told;
    const place = filename && line ? ` (${filename}:${line}:${column ?? 1})` : '';
    return { name: name === 'LinkError' ? 'TypeError' : name, message: message + place };
  }
  const { name, message, stack } = readThrown(error);
  // Positions stay those of the erased text: like all others, they are mapped when the error leaves the isolate.
  const frames = stack === '' ? {} : { stack: cleanStack(stack, names, undefined, message) };
  return { name, message: splitCompileMessage(message, names).message, ...frames };
}

/** Reads the name, message and stack of a thrown value, as the code inside the isolate sent them. */
export function readError(wire: Wire): unknown {
  const { maxBytes, maxElements, maxDepth } = ERROR_TRANSFER;
  const [name, message, stack] = decode(wire, undefined, { maxBytes, maxElements, maxDepth }) as string[];
  return { name, message, stack };
}

const ERROR_TRANSFER = { maxBytes: 1024 * 1024, maxElements: 10, maxDepth: 3 };

/** A message of isolated-vm that is meaningless to authors. */
const UNCOPIED_MESSAGE =
  'An object was thrown from supplied code within isolated-vm, but that object was not an instance of `Error`.';

/** Reads an error from the engine: a copy of any value that can be thrown. */
function readThrown(error: unknown): { name: string; message: string; stack: string } {
  const { name, message, stack } = (error ?? {}) as { name?: unknown; message?: unknown; stack?: unknown };
  const { errorNameLength, errorMessageLength } = SANDBOX_LIMITS;
  if (message === UNCOPIED_MESSAGE) return { name: 'Error', message: NOT_AN_ERROR, stack: '' };
  return {
    name: typeof name === 'string' ? truncate(name, errorNameLength) : 'Error',
    message: truncate(typeof message === 'string' ? message : errorMessage(error), errorMessageLength),
    stack: typeof stack === 'string' ? stack : '',
  };
}

function truncate(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}…`;
}
