/**
 * What jiti's compiler would do otherwise than the author's, without a word: decorators, which it applies wrongly, are
 * refused; what a compiled module imports and exports by name is kept on its exports, so that a name that does not exist
 * is found.
 * - Imports that TypeScript removes are gone before the names are read: types are not among them.
 * - A name that is only exported again may be a type: it is missing if a compiled module has neither, by itself or by
 *   `export *`. What Node has loaded does not show its types.
 */
import type { ModuleCache } from 'jiti';
import { didYouMean } from './suggestion.ts';

const NAMES = Symbol.for('everthread.names');

type Exports = Readonly<Record<string, unknown>> & { readonly [NAMES]?: Names };

interface Names {
  readonly imports: readonly Import[];
  /** Names that it exports as types, or passes on. */
  readonly types: readonly string[];
  /** What it exports with `export *`. */
  readonly stars: readonly Exports[];
}

/** `names` are used; `passed` are only exported again. */
type Import = readonly [
  module: Exports,
  from: string,
  line: number,
  names: readonly string[],
  passed: readonly string[],
];

/** The parts of Babel's API that are used; its types are not installed. */
interface Babel {
  readonly template: { statement(code: string): () => object };
}
interface Name {
  readonly name?: string;
  readonly value?: string;
}
interface Specifier {
  readonly type: string;
  readonly local: Name;
  readonly imported?: Name;
  readonly exported?: Name;
}
interface Node {
  readonly type: string;
  readonly loc?: { readonly start: { readonly line: number; readonly column: number } };
  readonly importKind?: string;
  readonly exportKind?: string;
  readonly source?: { readonly value: string } | null;
  readonly specifiers?: readonly Specifier[];
  readonly declaration?: (Node & { readonly id?: Name | null }) | null;
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
  // Types are still there only before the other plugins.
  let types: readonly string[] = [];
  return {
    pre(file: { readonly path: Path }) {
      file.path.traverse({ Decorator: ({ node }) => refuseDecorator(node) });
      types = file.path.node.body.flatMap(listTypes);
    },
    visitor: { Program: (path: Path) => keepNames(path, types, (code) => template.statement(code)()) },
  };
}

function refuseDecorator({ loc }: Node): never {
  const message =
    'uses a decorator, which is not supported in files that Everthread compiles: call the function instead, or compile the file before';
  throw Object.assign(new SyntaxError(message), { code: 'Refused', loc: loc?.start });
}

const textOf = ({ name, value }: Name = {}) => name ?? value ?? '';

/** The names that a statement exports as types, or passes on; `*` for all types of another module. */
function listTypes({ type, exportKind, declaration, specifiers = [] }: Node): string[] {
  if (type === 'ExportAllDeclaration') return exportKind === 'type' ? ['*'] : [];
  if (type === 'ExportDefaultDeclaration') return ['default'];
  if (type !== 'ExportNamedDeclaration') return [];
  const passed = specifiers.map(({ exported }) => textOf(exported));
  return exportKind === 'type' && declaration?.id ? [textOf(declaration.id)] : passed;
}

function keepNames(path: Path, types: readonly string[], parse: (code: string) => object): void {
  const added: string[] = [];
  const imports: string[] = [];
  const stars: string[] = [];
  const see = (from: string) => {
    const module = path.scope.generateUid('imported');
    added.push(`import * as ${module} from ${JSON.stringify(from)};`);
    return module;
  };
  const { body } = path.node;
  if (!body.some(({ type }) => /^(Import|Export)/.test(type))) return;
  for (const node of body) {
    const { type, importKind, exportKind, source, loc } = node;
    if (!source || importKind === 'type' || exportKind === 'type') continue;
    if (type === 'ExportAllDeclaration') stars.push(see(source.value));
    const [names, passed] = namesOf(path, node);
    if (names.length + passed.length === 0) continue;
    const kept = [source.value, loc?.start.line, names, passed];
    imports.push(`[${see(source.value)}, ${JSON.stringify(kept).slice(1)}`);
  }
  const record = `{ imports: [${imports.join(', ')}], types: ${JSON.stringify(types)}, stars: [${stars.join(', ')}] }`;
  added.push(`Object.defineProperty(exports, Symbol.for('everthread.names'), { value: ${record} });`);
  for (const each of path.unshiftContainer('body', added.map(parse)))
    if (each.node.type === 'ImportDeclaration') path.scope.registerDeclaration(each);
}

/** Returns the names that a statement takes from another module: those that are used, and those that are passed on. */
function namesOf(path: Path, { type, specifiers = [] }: Node): [used: string[], passed: string[]] {
  if (type === 'ExportNamedDeclaration')
    return [
      [],
      specifiers.filter((each) => each.type === 'ExportSpecifier').map(({ local }) => textOf(local)),
    ];
  const named = specifiers.filter((each) => each.type !== 'ImportNamespaceSpecifier');
  const nameOf = ({ imported }: Specifier) => (imported ? textOf(imported) : 'default');
  const isPassed = ({ local }: Specifier) => isOnlyExported(path, textOf(local));
  return [named.filter((each) => !isPassed(each)).map(nameOf), named.filter(isPassed).map(nameOf)];
}

function isOnlyExported({ scope }: Path, name: string): boolean {
  const references = scope.getBinding(name)?.referencePaths ?? [];
  return references.length > 0 && references.every(({ parent }) => parent.type === 'ExportSpecifier');
}

/**
 * Throws for the first name that a module takes from another and that does not exist. `checked` takes the files whose
 * check is over: each is refused once, and does not hide what the next files lack.
 */
export function checkImports(modules: ModuleCache, checked: Set<string>): void {
  for (const [file, { exports, loaded }] of Object.entries(modules)) {
    if (checked.has(file)) continue;
    if (loaded) checked.add(file);
    const { imports = [] } = (exports as Exports | undefined)?.[NAMES] ?? {};
    for (const [module, from, line, names, passed] of imports) {
      const lacks = (name: string) => isMissing(module, name);
      const used = names.find(lacks);
      const missing = used ?? passed.find((name) => lacks(name) && !mayBeType(module, name));
      if (missing === undefined) continue;
      const advice = didYouMean(missing, Object.keys(module));
      const verb = used === undefined ? 'exports' : 'imports';
      const message = `${verb} '${missing}' from '${from}', which does not export it.${advice}`;
      throw new SyntaxError(`Refused: ${message} \n ${file}:${line}:0`);
    }
  }
}

/** jiti gives a module for its own default: right for CommonJS and JSON alone. */
function isMissing(module: Exports, name: string): boolean {
  if (name in module) return false;
  if (name !== 'default') return module[name] === undefined;
  return (
    module[NAMES] !== undefined ||
    (module as { [Symbol.toStringTag]?: string })[Symbol.toStringTag] === 'Module'
  );
}

/** `export *` never passes on a default export. */
function mayBeType(module: Exports, name: string, seen = new Set<Exports>()): boolean {
  const names = module[NAMES];
  if (names === undefined) return true;
  if (seen.has(module)) return false;
  seen.add(module);
  const { types, stars } = names;
  return (
    types.includes(name) ||
    (name !== 'default' && (types.includes('*') || stars.some((each) => mayBeType(each, name, seen))))
  );
}
