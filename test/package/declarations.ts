/**
 * Reads the built declarations of the package: the names that its entry points export, and the names that an exported
 * declaration mentions. It parses the text that the compiler emits: a statement begins in the first column and ends at
 * a `;` or `}` there.
 */
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** A name, and the file that declares it. */
export interface Declared {
  readonly file: string;
  readonly name: string;
}

export interface Mention {
  /** The exported declaration that mentions it. */
  readonly by: Declared;
  readonly name: Declared;
}

interface Module {
  /** Text of each declaration, by name. */
  readonly declared: ReadonlyMap<string, string>;
  /** Origin of imported names within the package, by local name. */
  readonly imported: ReadonlyMap<string, Declared>;
  /** Origin of exports, by exported name. */
  readonly exported: ReadonlyMap<string, Declared>;
}

const IMPORT = /^(?:import|export) (?:type )?\{([^}]*)\} from ['"](\.[^'"]+)['"];/gm;
/** A statement begins in the first column, where otherwise only closing brackets are. */
const STATEMENT = /^[\w][^\n]*(?:\n(?![\w])[^\n]*)*/gm;
const DECLARED =
  /^(export )?(?:declare )?(?:default )?(?:abstract )?(?:interface|type|class|function|const|enum) ([\w$]+)/;

/** `folder` holds what `tsc --declaration` emitted for `src`; `entries` are paths in it. */
export function readDeclarations(folder: string, entries: readonly string[]) {
  const modules = new Map<string, Module>();
  const load = (file: string): Module => {
    const known = modules.get(file);
    if (known) return known;
    const module = readModule(folder, file);
    modules.set(file, module);
    return module;
  };
  const origin = (found: Declared): Declared => {
    const next = load(found.file).exported.get(found.name);
    return next && key(next) !== key(found) ? origin(next) : found;
  };
  const exported = new Map(
    entries.flatMap((entry) =>
      [...load(entry).exported.values()].map((name) => [key(origin(name)), origin(name)]),
    ),
  );
  const mentions = [...exported.values()].flatMap((by) =>
    namesIn(load(by.file), by).map((name): Mention => ({ by, name: origin(name) })),
  );
  /** Returns the names of an entry that exist at run time. */
  const values = (entry: string): string[] =>
    [...load(entry).exported].flatMap(([name, from]) => {
      const { file, name: original } = origin(from);
      const text = load(file).declared.get(original) ?? '';
      return /^export declare (?:abstract )?(?:function|class|const)/.test(text) ? [name] : [];
    });
  /** Returns what an entry declares, by name: the text of each declaration, which names others. */
  const surface = (entry: string): string =>
    [...load(entry).exported]
      .map(([name, from]) => {
        const { file, name: original } = origin(from);
        const text = (load(file).declared.get(original) ?? '').trim().replace(/\n\s*\n/g, '\n');
        return name === original ? text : `// ${name}\n${text}`;
      })
      .toSorted()
      .join('\n\n');
  return { exported, mentions, values, surface };
}

export function key({ file, name }: Declared): string {
  return `${file}#${name}`;
}

function readModule(folder: string, file: string): Module {
  const text = readFileSync(join(folder, file), 'utf8')
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/[ \t]+$/gm, '');
  const declared = new Map<string, string>();
  const exported = new Map<string, Declared>();
  for (const [statement] of text.matchAll(STATEMENT)) {
    const [, isExported, name] = DECLARED.exec(statement) ?? [];
    if (name === undefined) continue;
    // Overloads of one function are joined.
    declared.set(name, `${declared.get(name) ?? ''}${statement}`);
    if (isExported) exported.set(name, { file, name });
  }
  const imported = new Map<string, Declared>();
  for (const [statement, list = '', from = ''] of text.matchAll(IMPORT)) {
    const source = relative(folder, join(folder, dirname(file), from)).replace(/\.(?:ts|js)$/, '.d.ts');
    for (const [original, local] of specifiers(list)) {
      (statement.startsWith('import') ? imported : exported).set(local, { file: source, name: original });
    }
  }
  return { declared, imported, exported };
}

function specifiers(list: string): [original: string, local: string][] {
  return list.split(',').flatMap((each) => {
    const [original, local] = each
      .trim()
      .replace(/^type /, '')
      .split(' as ');
    return original ? [[original, local ?? original] as [string, string]] : [];
  });
}

/** Returns the names of the package that a declaration mentions, except its own. */
function namesIn({ declared, imported }: Module, { file, name }: Declared): Declared[] {
  const text = (declared.get(name) ?? '')
    .replace(/(['"])(?:\\.|(?!\1).)*\1/g, "''")
    .replace(/\btypeof [\w$]+/g, '');
  const words = new Set(text.match(/(?<![\w$.])[A-Za-z_$][\w$]*(?!\??:)/g));
  return [...words].flatMap((word) => {
    if (word === name) return [];
    const other = imported.get(word);
    if (other) return [other];
    return declared.has(word) ? [{ file, name: word }] : [];
  });
}
