/**
 * The user's modules in one isolate (§13.2): compiled when first requested, and linked with their bridge modules
 * (`bridge-modules.ts`).
 */
import type ivm from 'isolated-vm';
import type { Job } from '../protocol.ts';
import { BridgeModules, type UserModule } from './bridge-modules.ts';
import { compileUserModule, IsolateCompiler, retryOnce } from './compile.ts';
import { LinkFailure, locateImport, toLinkFailure } from './failure.ts';
import { createResolver, type Resolver } from './resolve.ts';
import type { SourceModule } from './source-module.ts';

interface Node extends UserModule {
  /** Undefined for the entry. */
  readonly key: string | undefined;
  readonly module: ivm.Module;
}

/** A user module, or the module that represents an import of the caller, whose number is below 0. */
export interface Target {
  readonly index: number;
  readonly module: ivm.Module;
}

export interface Place {
  readonly isolate: ivm.Isolate;
  readonly context: ivm.Context;
  readonly boot: ivm.Module;
  readonly job: Job;
}

export class Graph {
  /** The user's sources, by the name that errors show. */
  readonly sources: ReadonlyMap<string, SourceModule>;
  readonly entry: Promise<Target>;
  readonly #job: Job;
  readonly #boot: ivm.Module;
  readonly #compiler: IsolateCompiler;
  readonly #bridges: BridgeModules;
  readonly #linker: Linker;
  readonly #resolver: Resolver;
  /** The caller's modules, by normalised key. */
  readonly #texts: ReadonlyMap<string, string>;
  readonly #sources = new Map<string, SourceModule>();
  readonly #nodes: Node[] = [];
  readonly #byKey = new Map<string | undefined, Promise<Node>>();
  readonly #byModule = new Map<ivm.Module, Node>();

  constructor({ isolate, context, boot, job }: Place) {
    this.sources = this.#sources;
    this.#job = job;
    this.#boot = boot;
    this.#compiler = new IsolateCompiler(isolate);
    this.#bridges = new BridgeModules({ context, boot, job, compiler: this.#compiler });
    this.#linker = new Linker(context, this.#sources);
    this.#resolver = createResolver(
      job.imports.map(({ specifier }) => specifier),
      job.modules.map(([key]) => key),
    );
    this.#texts = new Map(job.modules.map(([key, text]) => [this.#resolver.normalize(key), text]));
    this.entry = this.#load(undefined);
    // `linkEntry` reports its rejection; until then it must not count as unhandled.
    this.entry.catch(() => undefined);
  }

  /** Links the entry under a generated module that calls `start`. */
  async linkEntry(): Promise<ivm.Module> {
    const { module } = await this.entry;
    const fn = JSON.stringify(this.#job.fn);
    const driver = await this.#linkDriver(
      module,
      `import*as ns from"target";import{start}from"boot";start(ns,${fn});`,
    );
    this.#compiler.expectUserCode();
    return driver;
  }

  /** Resolves `specifier` in the module with the number `referrer`. Rejects with a TypeError if it is unknown. */
  async find(specifier: string, referrer: number): Promise<Target> {
    const resolved = this.#resolver.resolve(specifier, (this.#nodes[referrer] as Node).key);
    if (resolved.kind === 'module') return this.#load(resolved.key);
    if (resolved.kind === 'unknown') throw new TypeError(resolved.message);
    const index = -1 - this.#job.imports.findIndex((each) => each.specifier === resolved.specifier);
    return { index, module: await this.#bridges.importOf(resolved.specifier) };
  }

  /** Links a target under a generated module that calls `loaded`. */
  linkLoad({ index, module }: Target): Promise<ivm.Module> {
    return this.#linkDriver(
      module,
      `import*as ns from"target";import{loaded}from"boot";loaded(${index},ns);`,
    );
  }

  /** Rejects with the error of the target's graph, if that failed. */
  async probe({ module }: Target): Promise<void> {
    // Uses a new driver each time: a module reports why it failed only once.
    await retryOnce(async () => (await this.#linkDriver(module, 'import"target";')).evaluate());
  }

  #load(key: string | undefined): Promise<Node> {
    const known = this.#byKey.get(key);
    if (known) return known;
    const loading = this.#compile(key);
    this.#byKey.set(key, loading);
    return loading;
  }

  async #compile(key: string | undefined): Promise<Node> {
    const source = this.#sourceOf(key);
    this.#sources.set(source.name, source);
    const compiled = await compileUserModule(this.#compiler, source, this.#bridges.globals, this.#sources);
    const node: Node = { index: this.#nodes.length, key, name: source.name, ...compiled };
    this.#nodes.push(node);
    this.#byModule.set(compiled.module, node);
    return node;
  }

  #sourceOf(key: string | undefined): SourceModule {
    const { filename, source, language } = this.#job;
    if (key === undefined) return { name: filename, source, language };
    return { name: key.replace(/^\.\//, ''), source: this.#texts.get(key) as string, language };
  }

  /** Compiles and links a generated module that imports `target`. */
  async #linkDriver(target: ivm.Module, code: string): Promise<ivm.Module> {
    const driver = await this.#bridges.compile(code);
    await this.#linker.link(driver, (specifier, referrer) => {
      const node = this.#byModule.get(referrer);
      if (node) return this.#resolve(specifier, node);
      return specifier === 'target' ? target : this.#boot;
    });
    return driver;
  }

  async #resolve(specifier: string, node: Node): Promise<ivm.Module> {
    if (specifier === node.inner) return this.#bridges.innerOf(node);
    const resolved = this.#resolver.resolve(specifier, node.key);
    if (resolved.kind === 'import') return this.#bridges.importOf(resolved.specifier);
    if (resolved.kind === 'module') return (await this.#load(resolved.key)).module;
    const position = locateImport(this.#sources.get(node.name) as SourceModule, specifier);
    const { message } = resolved;
    throw new LinkFailure({ name: 'LinkError', message, specifier, filename: node.name, ...position });
  }
}

type ResolveImport = (specifier: string, referrer: ivm.Module) => Promise<ivm.Module> | ivm.Module;

/**
 * Links modules of one context, one graph at a time: the engine refuses to link two graphs concurrently if they share
 * a module that is not linked yet.
 */
class Linker {
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
