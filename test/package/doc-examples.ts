/** The examples of public functions and classes: the `@example` of their doc comments, as files of a project. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Declared } from './declarations.ts';

export interface DocExample {
  /** Below `src`, where it is declared: that of its entry, where it has one of its own. */
  readonly folder: string;
  readonly name: string;
  /** Absent where its comment has none. */
  readonly code?: string;
}

/** Of those among `exported` that a program can call: functions, classes, and functions that are constants. */
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
        folder: dirname(file).split('/')[0] ?? '',
        code: /@example\s+```ts\n([\s\S]*?)```/.exec(comment)?.[1],
      },
    ];
  });
}

/** Where examples stand: with all that the entries export, a client, and zod. */
export function placeExample(code: string, entries: ReadonlyMap<string, readonly string[]>): string {
  // What two entries export is imported of the first.
  const seen = new Set<string>();
  const imports = [...entries].map(([entry, names]) => {
    const others = names.filter((name) => seen.size < seen.add(name).size);
    return `import { ${others.join(', ')} } from '${entry}';`;
  });
  const given = [...imports, "import { z } from 'zod';", 'declare const threadId: string;'];
  if (/^export /m.test(code)) return [...given, code].join('\n');
  return [...given, 'declare const client: RuntimeClient;', '{', code, '}', 'export {};'].join('\n');
}
