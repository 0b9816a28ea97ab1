/**
 * What jiti's compiler would do otherwise than the author's, without a word: decorators, which it applies wrongly, are
 * refused; what a compiled module imports by name is kept on its exports, so that a name that does not exist is found.
 * - Imports that TypeScript removes are gone before the names are read: types are not among them.
 * - A name that is only exported again may be a type, so it is not checked.
 */
import type { ModuleCache } from 'jiti';
import { didYouMean } from './suggestion.ts';

const IMPORTS = Symbol.for('everthread.imports');

type Import = readonly [
  module: Readonly<Record<string, unknown>>,
  from: string,
  line: number,
  names: string[],
];

/** The parts of Babel's API that are used; its types are not installed. */
interface Babel {
  readonly template: { statement(code: string): () => object };
}
interface Specifier {
  readonly type: string;
  readonly local: { readonly name: string };
  readonly imported?: { readonly name?: string; readonly value?: string };
}
interface Node {
  readonly type: string;
  readonly loc?: { readonly start: { readonly line: number; readonly column: number } };
  readonly importKind?: string;
  readonly source?: { readonly value: string };
  readonly specifiers?: readonly Specifier[];
}
interface Path {
  readonly node: Node & { readonly body: readonly Node[] };
  readonly parent: Node;
  readonly scope: {
    generateUid(name: string): string;
    registerDeclaration(path: Path): void;
    getBinding(name: string): { readonly referencePaths: readonly Path[] } | undefined;
  };
  traverse(visitor: Readonly<Record<string, (path: Path) => void>>): void;
  unshiftContainer(key: 'body', nodes: readonly object[]): readonly Path[];
}

export function strictCompiler({ template }: Babel) {
  return {
    pre(file: { readonly path: Path }) {
      file.path.traverse({ Decorator: ({ node }) => refuseDecorator(node) });
    },
    visitor: { Program: (path: Path) => keepImports(path, (code) => template.statement(code)()) },
  };
}

function refuseDecorator({ loc }: Node): never {
  const message =
    'uses a decorator, which is not supported in files that Everthread compiles: call the function instead, or compile the file before';
  throw Object.assign(new SyntaxError(message), { code: 'Refused', loc: loc?.start });
}

function keepImports(path: Path, parse: (code: string) => object): void {
  const imports: string[] = [];
  const kept: string[] = [];
  for (const { type, importKind, source, specifiers = [], loc } of path.node.body) {
    if (type !== 'ImportDeclaration' || importKind === 'type' || !source) continue;
    const used = specifiers.filter((each) => each.imported && isUsed(path, each.local.name));
    const names = used.map(({ imported }) => imported?.name ?? imported?.value);
    if (names.length === 0) continue;
    const module = path.scope.generateUid('imported');
    imports.push(`import * as ${module} from ${JSON.stringify(source.value)};`);
    kept.push(`[${module}, ${JSON.stringify([source.value, loc?.start.line, names]).slice(1)}`);
  }
  if (kept.length === 0) return;
  const list = `Object.defineProperty(exports, Symbol.for('everthread.imports'), { value: [${kept.join(', ')}] });`;
  for (const added of path.unshiftContainer('body', [...imports, list].map(parse)))
    if (added.node.type === 'ImportDeclaration') path.scope.registerDeclaration(added);
}

function isUsed({ scope }: Path, name: string): boolean {
  const references = scope.getBinding(name)?.referencePaths ?? [];
  return references.length === 0 || references.some(({ parent }) => parent.type !== 'ExportSpecifier');
}

/** Throws for the first name that a module has imported and that does not exist. */
export function checkImports(modules: ModuleCache): void {
  for (const [file, { exports }] of Object.entries(modules)) {
    const imports = (exports as { [IMPORTS]?: readonly Import[] } | undefined)?.[IMPORTS] ?? [];
    for (const [module, from, line, names] of imports) {
      const missing = names.find((name) => !(name in module) && module[name] === undefined);
      if (missing === undefined) continue;
      const advice = didYouMean(missing, Object.keys(module));
      const message = `imports '${missing}' from '${from}', which does not export it.${advice}`;
      throw new SyntaxError(`Refused: ${message} \n ${file}:${line}:0`);
    }
  }
}
