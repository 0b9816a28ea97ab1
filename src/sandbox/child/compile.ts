/**
 * Compiles one user module. A top-level declaration replaces a global of the same name, as it would in any module; any
 * other syntax error is reported as it is in the author's own text.
 */
import { randomBytes } from 'node:crypto';
import type ivm from 'isolated-vm';
import { toLinkFailure } from './failure.ts';
import { type PreparedModule, prepareModule, type SourceModule } from './transform.ts';

export interface Compiled {
  readonly module: ivm.Module;
  /** Specifier of its bridge module: a nonce, known to this module only. */
  readonly inner: string;
}

const DECLARED_ERROR = /^Identifier '(.+?)' has already been declared/;

export async function compileUserModule(
  compiler: IsolateCompiler,
  source: SourceModule,
  globals: readonly string[],
  sources: ReadonlyMap<string, SourceModule>,
): Promise<Compiled> {
  const inner = randomBytes(12).toString('hex');
  const filename = `sandbox:${source.name}`;
  try {
    const prepared = prepareModule(source, { specifier: inner, globals });
    return {
      module: await compileBound(compiler, prepared, filename, mentionedGlobals(globals, source)),
      inner,
    };
  } catch (error) {
    throw toLinkFailure(error, sources);
  }
}

/** Returns the globals that the source may mention: binding few is cheaper. With escapes, it may mention any. */
function mentionedGlobals(globals: readonly string[], { source }: SourceModule): readonly string[] {
  return source.includes('\\u') ? globals : globals.filter((name) => source.includes(name));
}

async function compileBound(
  compiler: IsolateCompiler,
  prepared: PreparedModule,
  filename: string,
  globals: readonly string[],
): Promise<ivm.Module> {
  let bound = globals;
  for (;;) {
    try {
      return await compiler.compile(prepared.compose(bound), filename);
    } catch (error) {
      const [, declared] = DECLARED_ERROR.exec((error as Error).message) ?? [];
      if (declared === undefined || !bound.includes(declared)) break;
      bound = bound.filter((name) => name !== declared);
    }
  }
  // The failure may be in the author's text or in our additions: compiling the text alone reports the author's.
  await compiler.compile(prepared.bare, filename);
  return compiler.compile(prepared.compose(bound), filename);
}

/**
 * Compiles modules in one isolate, synchronously or asynchronously. Before any user code has run, the sync form saves a
 * change of threads. Afterwards it would enter the isolate in the middle of user code, run its microtasks on this
 * thread, and wait forever for an endless loop: from then on only the async form is used.
 */
export class IsolateCompiler {
  readonly #isolate: ivm.Isolate;
  #form: 'sync' | 'async' = 'sync';

  constructor(isolate: ivm.Isolate) {
    this.#isolate = isolate;
  }

  compile(code: string, filename: string): ivm.Module | Promise<ivm.Module> {
    return this.#form === 'sync'
      ? this.#isolate.compileModuleSync(code, { filename })
      : retryOnce(() => this.#isolate.compileModule(code, { filename }));
  }

  /** Must be called before the first user code runs. */
  expectUserCode(): void {
    this.#form = 'async';
  }
}

/**
 * Retries a task once: a task of the isolate also rejects with any error that user code left unhandled before it. The
 * second time, it rejects only with its own error.
 */
export async function retryOnce<Told>(task: () => Promise<Told>): Promise<Told> {
  try {
    return await task();
  } catch {
    return task();
  }
}
