/**
 * Compiles one user module. A top-level declaration replaces a global of the same name, as it would in any module; any
 * other syntax error is reported as it is in the author's own text.
 */
import { randomBytes } from 'node:crypto';
import type ivm from 'isolated-vm';
import { toLinkFailure } from './failure.ts';
import type { IsolateCompiler } from './isolate-compiler.ts';
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
