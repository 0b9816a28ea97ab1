/**
 * Compiles one module of the user's. A top-level declaration of the same name takes the place of a global, as it
 * would in any module; any other syntax error is told as the author's own text has it.
 */
import { randomBytes } from 'node:crypto';
import type ivm from 'isolated-vm';
import { toLinkFailure } from './failure.ts';
import type { IsolateCompiler } from './isolate-compiler.ts';
import { type PreparedModule, prepareModule, type SourceModule } from './transform.ts';

export interface Compiled {
  readonly module: ivm.Module;
  /** What the module of ours around it is known by, to it alone. */
  readonly inner: string;
}

const DECLARED = /^Identifier '(.+?)' has already been declared/;

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
    return { module: await compileBound(compiler, prepared, filename, named(globals, source)), inner };
  } catch (error) {
    throw toLinkFailure(error, sources);
  }
}

/** A module is bound only to what it may speak of; most need nothing, and cost less. An escape may spell any name. */
function named(globals: readonly string[], { source }: SourceModule): readonly string[] {
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
      const [, declared] = DECLARED.exec((error as Error).message) ?? [];
      if (declared === undefined || !bound.includes(declared)) break;
      bound = bound.filter((name) => name !== declared);
    }
  }
  // What failed may be the author's text or what stands behind it; alone it says what the author did.
  await compiler.compile(prepared.bare, filename);
  return compiler.compile(prepared.compose(bound), filename);
}
