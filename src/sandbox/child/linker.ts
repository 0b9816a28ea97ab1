/**
 * Links modules of one context, one graph at a time: the engine refuses to link two graphs concurrently if they share a
 * module that is not linked yet.
 */
import type ivm from 'isolated-vm';
import { toLinkFailure } from './failure.ts';
import type { SourceModule } from './source-module.ts';

export type ResolveImport = (specifier: string, referrer: ivm.Module) => Promise<ivm.Module> | ivm.Module;

export class Linker {
  readonly #context: ivm.Context;
  readonly #sources: ReadonlyMap<string, SourceModule>;
  #lastLink: Promise<unknown> = Promise.resolve();

  constructor(context: ivm.Context, sources: ReadonlyMap<string, SourceModule>) {
    this.#context = context;
    this.#sources = sources;
  }

  /** Rejects with a `LinkFailure`, or with the first error that `resolve` threw. */
  link(module: ivm.Module, resolve: ResolveImport): Promise<void> {
    const linking = this.#lastLink.then(() => this.#link(module, resolve));
    this.#lastLink = linking.catch(() => undefined);
    return linking;
  }

  async #link(module: ivm.Module, resolve: ResolveImport): Promise<void> {
    let failure: unknown;
    try {
      await module.instantiate(this.#context, async (specifier, referrer) => {
        try {
          return await resolve(specifier, referrer);
        } catch (error) {
          // `instantiate` rejects with a copy of an error; the first original one is thrown instead.
          failure ??= error;
          throw error;
        }
      });
    } catch (error) {
      throw failure ?? toLinkFailure(error, this.#sources);
    }
  }
}
