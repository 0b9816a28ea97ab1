/**
 * Compiles modules in one isolate, synchronously or asynchronously. Before any user code has run, the sync form saves a
 * change of threads. Afterwards it would enter the isolate in the middle of user code, run its microtasks on this
 * thread, and wait forever for an endless loop: from then on only the async form is used.
 */
import type ivm from 'isolated-vm';

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
