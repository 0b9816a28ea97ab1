/**
 * The user's modules in one isolate (§13.2): compiled when first asked for, linked one graph at a time.
 * Around each stands a module of ours that gives it its `import.meta`, its `import()` and its globals; only the
 * module it was made for can import it, and no specifier of the user's reaches the sandbox's own code.
 */
import type ivm from 'isolated-vm';
import type { Job } from '../protocol.ts';
import { INTERNAL } from './boot.ts';
import { type Compile, compileUserModule } from './compile.ts';
import { LinkFailure, toLinkFailure } from './failure.ts';
import { locateImport } from './import-position.ts';
import { createResolver } from './resolve.ts';
import type { SourceModule } from './transform.ts';

interface Node {
  readonly index: number;
  /** Undefined for the entry. */
  readonly key: string | undefined;
  readonly name: string;
  readonly inner: string;
  readonly module: ivm.Module;
}

export interface Graph {
  /** The user's sources, by the name that errors show. */
  readonly sources: ReadonlyMap<string, SourceModule>;
  /** Links the entry under a module of ours that calls `start`. */
  linkEntry(): Promise<ivm.Module>;
  /** What `specifier` means in the module number `referrer`. Rejects with a TypeError when it means nothing. */
  find(specifier: string, referrer: number): Promise<Target>;
  /** Links a target under a module of ours that calls `loaded`. */
  linkLoad(target: Target): Promise<ivm.Module>;
  /** Rejects with the error of the target's graph, if that failed. */
  probe(target: Target): Promise<void>;
  readonly entry: Promise<Target>;
}

/** A module of the user's, or what stands for an import; numbers below 0 are the latter. */
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

const quoted = (text: string) => JSON.stringify(text);

export function createGraph({ isolate, context, boot, job }: Place): Graph {
  const resolver = createResolver(
    job.imports.map(({ specifier }) => specifier),
    job.modules.map(([key]) => key),
  );
  const keyed = new Map(job.modules.map(([key, source]) => [resolver.normalize(key), source]));
  const globals = [...job.globals, ...(job.console ? ['console'] : []), ...(job.report ? ['report'] : [])];
  const sources = new Map<string, SourceModule>();
  const nodes: Node[] = [];
  const byKey = new Map<string, Promise<Node>>();
  const byModule = new Map<ivm.Module, Node>();
  const shims = new Map<string, Promise<ivm.Module>>();
  const inners = new Map<string, Promise<ivm.Module>>();
  // Never the engine's sync form once user code runs: it would enter the isolate in the middle of that code, run its
  // microtasks on this thread, and wait for ever on a loop. Before, it saves a change of threads.
  let quiet = true;
  const compile: Compile = (code, filename) =>
    quiet
      ? isolate.compileModuleSync(code, { filename })
      : askTwice(() => isolate.compileModule(code, { filename }));
  const internal = async (code: string) => compile(code, INTERNAL);
  const entrySource: SourceModule = { name: job.filename, source: job.source, language: job.language };

  const load = (key: string | undefined): Promise<Node> => {
    const id = key ?? '';
    const known = byKey.get(id);
    if (known) return known;
    const loading = compileNode(key);
    byKey.set(id, loading);
    return loading;
  };
  const compileNode = async (key: string | undefined): Promise<Node> => {
    const source: SourceModule =
      key === undefined
        ? entrySource
        : { name: key.replace(/^\.\//, ''), source: keyed.get(key) as string, language: job.language };
    sources.set(source.name, source);
    const compiled = await compileUserModule(compile, source, globals, sources);
    const node: Node = { index: nodes.length, key, name: source.name, ...compiled };
    nodes.push(node);
    byModule.set(compiled.module, node);
    return node;
  };
  const innerModule = (node: Node): Promise<ivm.Module> => {
    const known = inners.get(node.inner) ?? makeInner(node);
    inners.set(node.inner, known);
    return known;
  };
  const makeInner = async (node: Node): Promise<ivm.Module> => {
    const parts = [
      `meta=metaOf(${quoted(`sandbox:${node.name}`)})`,
      `load=loadFrom(${node.index})`,
      ...globals.map((name, index) => `g${index}=${globalSource(job, name, index)}`),
    ];
    const module = await internal(
      `import{metaOf,loadFrom,globalOf,consoleOf,report}from"boot";export const ${parts.join(',')};`,
    );
    // At once: in a cycle a hoisted function may be called before its module is evaluated.
    await module.instantiate(context, () => boot);
    await askTwice(() => module.evaluate());
    return module;
  };
  const shim = (specifier: string): Promise<ivm.Module> => {
    const known = shims.get(specifier);
    if (known) return known;
    const keys = job.imports.find((each) => each.specifier === specifier)?.keys ?? [];
    const values = keys
      .map((key, index) => `const v${index}=importOf(${quoted(specifier)},${quoted(key)});`)
      .join('');
    const names = keys.map((key, index) => `v${index} as ${quoted(key)}`).join(',');
    const module = internal(`import{importOf}from"boot";${values}export{${names}};`);
    shims.set(specifier, module);
    return module;
  };
  const resolveFor = async (specifier: string, node: Node): Promise<ivm.Module> => {
    if (specifier === node.inner) return innerModule(node);
    const resolved = resolver.resolve(specifier, node.key);
    if (resolved.kind === 'import') return shim(resolved.specifier);
    if (resolved.kind === 'module') return (await load(resolved.key)).module;
    const position = locateImport(sources.get(node.name) as SourceModule, specifier);
    const { message } = resolved;
    throw new LinkFailure({ name: 'LinkError', message, specifier, filename: node.name, ...position });
  };

  // The engine refuses to link two graphs at once when they share a module that is not linked yet.
  let turn: Promise<unknown> = Promise.resolve();
  const link = (module: ivm.Module, roots: Readonly<Record<string, ivm.Module>>): Promise<void> => {
    const linking = turn.then(async () => {
      let failure: unknown;
      const resolve = async (specifier: string, referrer: ivm.Module): Promise<ivm.Module> => {
        const node = byModule.get(referrer);
        if (!node) return roots[specifier] ?? boot;
        try {
          return await resolveFor(specifier, node);
        } catch (error) {
          // What reaches the caller of `instantiate` is a copy; the first failure is the one to tell.
          failure ??= error;
          throw error;
        }
      };
      try {
        await module.instantiate(context, resolve);
      } catch (error) {
        throw failure ?? toLinkFailure(error, sources);
      }
    });
    turn = linking.catch(() => undefined);
    return linking;
  };
  const drive = async (target: ivm.Module, code: string): Promise<ivm.Module> => {
    const driver = await internal(code);
    await link(driver, { target });
    return driver;
  };

  const entry = load(undefined);
  // Told by `linkEntry`; whoever else awaits it comes later.
  entry.catch(() => undefined);
  return {
    sources,
    entry,
    async linkEntry() {
      const { module } = await entry;
      const code = `import*as ns from"target";import{start}from"boot";start(ns,${quoted(job.fn)});`;
      const driver = await drive(module, code);
      quiet = false;
      return driver;
    },
    async find(specifier, referrer) {
      const resolved = resolver.resolve(specifier, (nodes[referrer] as Node).key);
      if (resolved.kind === 'module') return load(resolved.key);
      if (resolved.kind === 'unknown') throw new TypeError(resolved.message);
      const index = -1 - job.imports.findIndex((each) => each.specifier === resolved.specifier);
      return { index, module: await shim(resolved.specifier) };
    },
    linkLoad: ({ index, module }) =>
      drive(module, `import*as ns from"target";import{loaded}from"boot";loaded(${index},ns);`),
    async probe({ module }) {
      // A new one each time: a module tells why it failed only once.
      await askTwice(async () => (await drive(module, 'import"target";')).evaluate());
    },
  };
}

/** A task is rejected, too, by what the user's code left unhandled before it; the second time it tells its own. */
async function askTwice<Told>(task: () => Promise<Told>): Promise<Told> {
  try {
    return await task();
  } catch {
    return task();
  }
}

function globalSource(job: Job, name: string, index: number): string {
  if (index < job.globals.length) return `globalOf(${quoted(name)})`;
  return name === 'console' ? 'consoleOf()' : 'report';
}
