/**
 * Validates a caller's options and encodes them into a job (definitions §19.1). Invalid options are a value: the run
 * settles as `link_error`, and `runCode` never throws.
 */
import type { CodeExecutionError, CodeExecutionOptions } from '../../core/author/code-execution.ts';
import { errorMessage } from '../../core/value/error.ts';
import { normalizeKey } from '../child/resolve.ts';
import { encode } from '../codec/encode.ts';
import type { FunctionTable } from '../codec/wire.ts';
import { SANDBOX_LIMITS, TRANSFER } from '../limits.ts';
import type { Job } from '../protocol.ts';

export type CheckedOptions =
  | { readonly ok: true; readonly job: Omit<Job, 'id'>; readonly report?: (value: unknown) => unknown }
  | { readonly ok: false; readonly error: CodeExecutionError };

const OPTION_NAMES = [
  'language',
  'execute',
  'imports',
  'modules',
  'globals',
  'report',
  'filename',
  'memoryLimitBytes',
];
const DEFAULT_FILENAME = '<runCode>';
const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*$/u;
/** Words that a module cannot bind, `arguments` and `eval` included. */
const RESERVED = new Set(
  (
    'arguments await break case catch class const continue debugger default delete do else enum eval export ' +
    'extends false finally for function if implements import in instanceof interface let new null package ' +
    'private protected public return static super switch this throw true try typeof var void while with yield'
  ).split(' '),
);
const RELATIVE = /^\.\.?\//;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
const CONTROL = /[\u0000-\u001f\u007f\u2028\u2029]/;
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;

class Refusal extends Error {}

export function checkOptions(source: unknown, given: unknown, functionTable: FunctionTable): CheckedOptions {
  try {
    return readOptions(source, given === undefined ? {} : given, functionTable);
  } catch (error) {
    const message = errorMessage(error);
    return { ok: false, error: { name: 'InvalidCodeExecutionOptions', message } };
  }
}

function readOptions(source: unknown, given: unknown, functionTable: FunctionTable): CheckedOptions {
  if (typeof source !== 'string') refuse('source', 'must be a string');
  const options = requireObject(given, 'options') as CodeExecutionOptions;
  checkNames(options);
  const { language, report } = readSettings(options);
  const { fn, args } = readExecute(options.execute);
  const modules = readModules(options.modules, source.length);
  const filename = readFilename(options.filename, modules);
  const globals = readGlobals(options.globals, report !== undefined);
  const imports = readImports(options.imports);
  const inputs = {
    globals: Object.fromEntries(globals),
    imports: Object.fromEntries(
      imports.map(({ specifier, entries }) => [specifier, Object.fromEntries(entries)]),
    ),
    execute: { args },
  };
  return {
    ok: true,
    report: report && ((value) => Reflect.apply(report, undefined, [value])),
    job: {
      source,
      language,
      filename,
      modules,
      fn,
      imports: imports.map(({ specifier, entries }) => ({ specifier, keys: entries.map(([key]) => key) })),
      globals: globals.map(([name]) => name),
      inputs: encode(inputs, functionTable, TRANSFER, 'options').wire,
      report: report !== undefined,
      console: !globals.some(([name]) => name === 'console'),
      memoryBytes: readMemory(options.memoryLimitBytes),
    },
  };
}

function checkNames(options: CodeExecutionOptions): void {
  for (const name of Object.keys(options)) {
    if (!OPTION_NAMES.includes(name))
      refuse(`options.${name}`, `is unknown; the options are ${OPTION_NAMES.join(', ')}`);
  }
}

function readSettings({ language = 'typescript', report }: CodeExecutionOptions) {
  if (language !== 'typescript' && language !== 'javascript') {
    refuse('options.language', "must be 'typescript' or 'javascript'");
  }
  if (report !== undefined && typeof report !== 'function') refuse('options.report', 'must be a function');
  return { language, report };
}

function refuse(field: string, message: string): never {
  throw new Refusal(`${field} ${message}.`);
}

function requireObject(value: unknown, field: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) refuse(field, 'must be an object');
  return value as Record<string, unknown>;
}

function readFilename(given: unknown, modules: readonly [string, string][]): string {
  const { filenameLength } = SANDBOX_LIMITS;
  const field = 'options.filename';
  const filename = given === undefined ? DEFAULT_FILENAME : given;
  if (typeof filename !== 'string' || filename === '' || filename.length > filenameLength) {
    refuse(field, `must be a string of 1 to ${filenameLength} characters`);
  }
  if (CONTROL.test(filename)) refuse(field, 'must not contain control characters');
  if (filename.endsWith('.json')) refuse(field, 'must not end in .json: the source is code');
  // Errors refer to sources by name, and one name must mean one source.
  if (modules.some(([key]) => normalizeKey(key) === normalizeKey(filename))) {
    refuse(field, `is also the name of a module: ${JSON.stringify(filename)}`);
  }
  return filename;
}

function readExecute(given: unknown): { fn: string; args: readonly unknown[] } {
  const execute = requireObject(given === undefined ? {} : given, 'options.execute');
  const { fn = 'default', args = [], ...more } = execute;
  const [unknown] = Object.keys(more);
  if (unknown !== undefined) refuse(`options.execute.${unknown}`, 'is unknown; the options are fn, args');
  if (typeof fn !== 'string' || fn === '') refuse('options.execute.fn', 'must be the name of an export');
  if (!Array.isArray(args)) refuse('options.execute.args', 'must be an array');
  return { fn, args };
}

function readModules(given: unknown, sourceLength: number): [string, string][] {
  const modules = Object.entries(requireObject(given === undefined ? {} : given, 'options.modules'));
  const seen = new Map<string, string>();
  let length = sourceLength;
  for (const [key, text] of modules) {
    const field = `options.modules[${JSON.stringify(key)}]`;
    if (!RELATIVE.test(key)) refuse(field, "must have a relative name: it begins with './' or '../'");
    if (CONTROL.test(key)) refuse(field, 'must not have control characters in its name');
    if (typeof text !== 'string') refuse(field, 'must be a string: the source of the module');
    const twin = seen.get(normalizeKey(key));
    if (twin !== undefined) refuse(field, `is the same module as ${JSON.stringify(twin)}`);
    seen.set(normalizeKey(key), key);
    length += text.length;
  }
  const { sourceBytes } = SANDBOX_LIMITS;
  if (length > sourceBytes)
    refuse('source', `and its modules hold ${length} characters; ${sourceBytes} are allowed`);
  return modules as [string, string][];
}

function readGlobals(given: unknown, reports: boolean): [string, unknown][] {
  const globals = Object.entries(requireObject(given ?? {}, 'options.globals'));
  for (const [name] of globals) {
    const field = `options.globals[${JSON.stringify(name)}]`;
    if (!IDENTIFIER.test(name) || RESERVED.has(name)) refuse(field, 'must have an identifier as its name');
    if (reports && name === 'report')
      refuse(field, 'is already defined by options.report; omit one of the two');
  }
  return globals;
}

function readImports(given: unknown): { specifier: string; entries: [string, unknown][] }[] {
  const imports = Object.entries(requireObject(given === undefined ? {} : given, 'options.imports'));
  return imports.map(([specifier, namespace]) => {
    const field = `options.imports[${JSON.stringify(specifier)}]`;
    if (specifier === '' || RELATIVE.test(specifier) || specifier.startsWith('/')) {
      refuse(field, 'must have a bare name; sources of relative modules go to options.modules');
    }
    if (SCHEME.test(specifier)) refuse(field, 'looks like a URL, which no import resolves to');
    if (!specifier.isWellFormed()) refuse(field, 'must have a well-formed name');
    const entries = Object.entries(requireObject(namespace, field));
    for (const [key] of entries) if (!key.isWellFormed()) refuse(field, 'has a name that is not well-formed');
    return { specifier, entries };
  });
}

/** Clamps the limit to what the platform can enforce (§13.4 a); the error of an overrun names the effective limit. */
function readMemory(given: unknown): number {
  const { memoryDefault, memoryFloor, memoryCeiling } = SANDBOX_LIMITS;
  if (given === undefined) return memoryDefault;
  if (typeof given !== 'number' || !Number.isFinite(given) || given <= 0) {
    refuse('options.memoryLimitBytes', 'must be a positive, finite number of bytes');
  }
  return Math.min(Math.max(Math.floor(given), memoryFloor), memoryCeiling);
}
