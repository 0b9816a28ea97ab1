/**
 * Extracts the examples of public functions and classes, the `@example` of their doc comments, as files of a project.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Declared } from './declarations.ts';

export interface DocExample {
  /** Folder below `src` in which it is declared; also the name of its entry, if that folder has one. */
  readonly folder: string;
  readonly name: string;
  /** Undefined if its comment has no example. */
  readonly code?: string;
}

/** Reads the examples of all callable names in `exported`: functions, classes, and constants that are functions. */
export function readDocExamples(folder: string, exported: Iterable<Declared>): DocExample[] {
  return [...exported].flatMap(({ file, name }): DocExample[] => {
    const text = readFileSync(join(folder, file), 'utf8');
    const declared = new RegExp(
      `(?:/\\*\\*((?:(?!\\*/)[\\s\\S])*)\\*/\\s*)?^export declare (?:abstract )?(?:function|class|const) ${name}\\b(?!: (?:\\{|readonly|Readonly))`,
      'm',
    ).exec(text);
    if (!declared) return [];
    const comment = (declared[1] ?? '').replace(/^ \* ?/gm, '');
    return [
      {
        name,
        folder:
          dirname(file)
            .replace(/^faces\//, '')
            .split('/')[0] ?? '',
        code: /@example\s+```ts\n([\s\S]*?)```/.exec(comment)?.[1],
      },
    ];
  });
}

/** Wraps an example in a file: imports everything that the entries export and zod, and declares a client. */
export function placeExample(code: string, entries: ReadonlyMap<string, readonly string[]>): string {
  // Names that two entries export are imported from the first.
  const seen = new Set<string>();
  const imports = [...entries].map(([entry, names]) => {
    const others = names.filter((name) => seen.size < seen.add(name).size);
    return `import { ${others.join(', ')} } from '${entry}';`;
  });
  const given = [...imports, "import { z } from 'zod';", 'declare const threadId: string;'];
  if (/^export /m.test(code)) return [...given, code].join('\n');
  return [...given, 'declare const client: RuntimeClient;', '{', code, '}', 'export {};'].join('\n');
}
