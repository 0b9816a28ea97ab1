/** Measures the sources: what is written, and what a reader must open. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import jsTokens from 'js-tokens';
import { ROOT, readSources, type SourceFile, withTypes } from './source-tree.ts';

export interface Size {
  /** Tokens of code by folder of `src`: a string, or a piece of a template, is one; comments are none. */
  readonly tokens: Readonly<Record<string, number>>;
  readonly files: Readonly<Record<string, number>>;
  /** Files that one other file imports, and those of them that have less than 60 lines. */
  readonly singleImporters: number;
  readonly smallSingleImporters: number;
  /** Files that only export what others declare, and functions that only call another one with their own arguments. */
  readonly forwarders: number;
  /** Files that import each other in a circle, types included. */
  readonly filesInCircles: number;
  readonly types: number;
  /** Names that more than one file exports. */
  readonly namesTwice: number;
  readonly patched: number;
  readonly migrations: number;
  readonly historyKilobytes: number;
}

const FORWARDER =
  /^(?:export )?(?:async )?function \w+\(([^()]*)\)[^{}]*\{\s*return (?:await )?[\w.]+\(([^()]*)\);\s*\}/gm;

export function measureSize(sources: readonly SourceFile[] = readSources()): Size {
  const importers = countImporters(sources);
  const single = sources.filter(({ path }) => importers.get(path) === 1);
  const folder = ({ path }: SourceFile) => (path.includes('/') ? (path.split('/')[0] ?? '') : '.');
  const byFolder = (measure: (file: SourceFile) => number) =>
    Object.fromEntries(
      [...Map.groupBy(sources, folder)].map(([name, files]) => [
        name,
        files.reduce((sum, file) => sum + measure(file), 0),
      ]),
    );
  return {
    tokens: byFolder(({ path, text }) => countTokens(text, path.endsWith('x'))),
    files: byFolder(() => 1),
    singleImporters: single.length,
    smallSingleImporters: single.filter(({ lines }) => lines < 60).length,
    forwarders: listForwarders(sources).length,
    filesInCircles: listCircles(sources).flat().length,
    types: sources.reduce(
      (sum, { code }) => sum + (code.match(/^(?:export )?(?:type|interface) \w+/gm) ?? []).length,
      0,
    ),
    namesTwice: listNamesTwice(sources).length,
    patched: sources.reduce((sum, { code }) => sum + (code.match(/\bpatched\(/g) ?? []).length, 0),
    migrations: sources.filter(({ path }) => /\/migration-\d+\.ts$/.test(path)).length,
    historyKilobytes: Math.ceil(folderBytes(join(ROOT, 'test', 'replay', 'histories')) / 1024),
  };
}

function countTokens(text: string, jsx: boolean): number {
  let count = 0;
  for (const { type } of jsTokens(text, { jsx }))
    if (!/^(WhiteSpace|LineTerminatorSequence|MultiLineComment|SingleLineComment)$/.test(type)) count += 1;
  return count;
}

function countImporters(sources: readonly SourceFile[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { imports } of sources)
    for (const file of new Set(imports.map((each) => each.file)))
      if (file !== undefined) counts.set(file, (counts.get(file) ?? 0) + 1);
  return counts;
}

/** Doors are not counted: `index.ts`, and what the package exports under the standard's name. */
export function listForwarders(sources: readonly SourceFile[]): readonly string[] {
  return sources.flatMap(({ path, code }) => {
    const isDoor = basename(path) === 'index.ts' || path === 'standard-agents.ts';
    const rest = code.replace(/^(?:import|export)\s[^;]*?from\s*"";|^import\s*"";/gm, '').trim();
    const functions = [...code.matchAll(FORWARDER)].filter(([, taken = '', given = '']) => {
      const names = taken.split(',').map((each) => each.split(':')[0]?.trim());
      return (
        given !== '' &&
        names.join() ===
          given
            .split(',')
            .map((each) => each.trim())
            .join()
      );
    });
    return [
      ...(rest === '' && !isDoor ? [path] : []),
      ...functions.map(([text]) => `${path}: ${text.split('(')[0]}`),
    ];
  });
}

export function listNamesTwice(sources: readonly SourceFile[]): readonly string[] {
  const homes = new Map<string, number>();
  for (const { code } of sources)
    for (const [, name = ''] of code.matchAll(
      /^export (?:declare )?(?:async )?(?:abstract )?(?:function\*?|const|class|interface|type) (\w+)/gm,
    ))
      homes.set(name, (homes.get(name) ?? 0) + 1);
  return [...homes].filter(([, count]) => count > 1).map(([name]) => name);
}

/** Returns the strongly connected components of more than one file (Tarjan). */
export function listCircles(sources: readonly SourceFile[]): readonly (readonly string[])[] {
  const edges = new Map(
    withTypes(sources).map(({ path, imports }) => [
      path,
      imports.flatMap(({ file }) => (file ? [file] : [])),
    ]),
  );
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const circles: string[][] = [];
  const visit = (path: string): void => {
    index.set(path, index.size);
    low.set(path, index.get(path) ?? 0);
    stack.push(path);
    for (const next of edges.get(path) ?? []) {
      if (!edges.has(next)) continue;
      if (!index.has(next)) visit(next);
      if (stack.includes(next)) low.set(path, Math.min(low.get(path) ?? 0, low.get(next) ?? 0));
    }
    if (low.get(path) !== index.get(path)) return;
    const circle = stack.splice(stack.indexOf(path));
    if (circle.length > 1) circles.push(circle);
  };
  for (const path of edges.keys()) if (!index.has(path)) visit(path);
  return circles;
}

function folderBytes(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).reduce((sum, name) => {
    const file = statSync(join(folder, name));
    return sum + (file.isFile() ? file.size : 0);
  }, 0);
}

/** Figures of `size` that are above those of `before`, with both. */
export function listRises(size: Size, before: Size): readonly string[] {
  const flat = (each: Size) =>
    Object.entries(each).flatMap(([name, value]): [string, number][] =>
      typeof value === 'number'
        ? [[name, value]]
        : Object.entries(value).map(([key, n]) => [`${name} of ${key}`, n as number]),
    );
  const known = new Map(flat(before));
  return flat(size).flatMap(([name, value]) => {
    const limit = known.get(name) ?? 0;
    return value > limit ? [`${name}: ${value}, above ${limit}`] : [];
  });
}

export function readSize(): Size {
  return JSON.parse(readFileSync(join(ROOT, 'test', 'architecture', 'size.json'), 'utf8')) as Size;
}
