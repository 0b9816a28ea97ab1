/**
 * Bridge modules: generated modules beside the user's. Each user module has one that provides its `import.meta`, its
 * `import()` and its globals; only that module can import it. Each import that the caller gave is represented by one.
 * All of them import from the boot module, which no specifier in user code reaches.
 */
import type ivm from 'isolated-vm';
import type { Job } from '../protocol.ts';
import { INTERNAL } from './boot.ts';
import { type IsolateCompiler, retryOnce } from './compile.ts';

/** The user module that a bridge module is made for. */
export interface UserModule {
  readonly index: number;
  readonly name: string;
  /** The specifier of its bridge module: a nonce, known to this module only. */
  readonly inner: string;
}

export interface BridgeParts {
  readonly context: ivm.Context;
  readonly boot: ivm.Module;
  readonly job: Job;
  readonly compiler: IsolateCompiler;
}

const quoted = (text: string) => JSON.stringify(text);

export class BridgeModules {
  /** Names of the globals of every user module: the caller's, and `console` and `report` if enabled. */
  readonly globals: readonly string[];
  readonly #parts: BridgeParts;
  readonly #inners = new Map<string, Promise<ivm.Module>>();
  readonly #imports = new Map<string, Promise<ivm.Module>>();

  constructor(parts: BridgeParts) {
    this.#parts = parts;
    const { globals, console, report } = parts.job;
    this.globals = [...globals, ...(console ? ['console'] : []), ...(report ? ['report'] : [])];
  }

  async compile(code: string): Promise<ivm.Module> {
    return this.#parts.compiler.compile(code, INTERNAL);
  }

  /** Returns the bridge module to which `inner` of a user module resolves. */
  innerOf(module: UserModule): Promise<ivm.Module> {
    const known = this.#inners.get(module.inner) ?? this.#makeInner(module);
    this.#inners.set(module.inner, known);
    return known;
  }

  /** Returns the module that represents one of the caller's imports. */
  importOf(specifier: string): Promise<ivm.Module> {
    const known = this.#imports.get(specifier);
    if (known) return known;
    const { job } = this.#parts;
    const keys = job.imports.find((each) => each.specifier === specifier)?.keys ?? [];
    const values = keys
      .map((key, index) => `const v${index}=importOf(${quoted(specifier)},${quoted(key)});`)
      .join('');
    const names = keys.map((key, index) => `v${index} as ${quoted(key)}`).join(',');
    const module = this.compile(`import{importOf}from"boot";${values}export{${names}};`);
    this.#imports.set(specifier, module);
    return module;
  }

  async #makeInner({ index, name }: UserModule): Promise<ivm.Module> {
    const parts = [
      `meta=metaOf(${quoted(`sandbox:${name}`)})`,
      `load=loadFrom(${index})`,
      ...this.globals.map((global, at) => `g${at}=${this.#globalSource(global, at)}`),
    ];
    const module = await this.compile(
      `import{metaOf,loadFrom,globalOf,consoleOf,report}from"boot";export const ${parts.join(',')};`,
    );
    const { context, boot } = this.#parts;
    // Evaluated at once: in a cycle of imports, a hoisted function may be called before its module is evaluated.
    await module.instantiate(context, () => boot);
    await retryOnce(() => module.evaluate());
    return module;
  }

  #globalSource(name: string, at: number): string {
    if (at < this.#parts.job.globals.length) return `globalOf(${quoted(name)})`;
    return name === 'console' ? 'consoleOf()' : 'report';
  }
}
