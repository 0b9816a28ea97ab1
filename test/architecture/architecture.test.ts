/** Rules of the code base, checked against the sources: layers, purity, sizes, names (docs/architecture.md). */
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { COMPOSITION_ROOT, LAYERS, layerOf, mayImport } from './layer.ts';
import {
  findCycle,
  foldersOf,
  ROOT,
  readSource,
  readSources,
  type SourceFile,
  withTypes,
} from './source-tree.ts';

const SOURCES = readSources();
const PATHS = new Set(SOURCES.map(({ path }) => path));

/** Modules that authors import. */
const DOORS = ['index.ts', 'standard-agents.ts'];

const inLayers = (...layers: string[]): SourceFile[] =>
  SOURCES.filter(({ path }) => layers.includes(layerOf(path)));

function breaches(files: readonly SourceFile[], pattern: RegExp): string[] {
  return files.flatMap(({ path, code }) =>
    [...code.matchAll(pattern)].map(([found]) => `${path}: ${found.trim()}`),
  );
}

describe('layers', () => {
  it('are all known, as are the files next to them', () => {
    const layers = new Set(SOURCES.map(({ path }) => layerOf(path)));
    layers.delete('root');
    expect(Object.keys(LAYERS)).toEqual(expect.arrayContaining([...layers]));
    const beside = SOURCES.map(({ path }) => path).filter((path) => layerOf(path) === 'root');
    const stray = beside.filter((path) => ![...COMPOSITION_ROOT, ...DOORS].includes(path));
    expect(stray.filter((path) => !path.startsWith('worker/'))).toEqual([]);
  });

  it('import only what lies below them', () => {
    const wrong = SOURCES.flatMap(({ path, imports }) =>
      imports
        .filter((imported) => !mayImport(path, imported))
        .map(({ specifier, typeOnly }) => `${path} imports ${typeOnly ? 'types of ' : ''}${specifier}`),
    );
    expect(wrong).toEqual([]);
  });

  it('import existing files by their names', () => {
    const lost = SOURCES.flatMap(({ path, imports }) =>
      imports
        .filter(({ file }) => file && !PATHS.has(file))
        .map(({ specifier }) => `${path} imports ${specifier}`),
    );
    expect(lost).toEqual([]);
  });

  it('hold no cycle', () => {
    expect(findCycle(SOURCES)).toBeUndefined();
  });

  it.each(['activities', 'core'])('hold no cycle between the folders of %s', (layer) => {
    expect(findCycle(foldersOf(inLayers(layer)))).toBeUndefined();
  });

  it.each(Object.keys(LAYERS))(
    'hold no cycle between the files of %s, imports of types included',
    (layer) => {
      expect(findCycle(withTypes(inLayers(layer)))).toBeUndefined();
    },
  );

  it('import no package at run time that is not a dependency', () => {
    const { dependencies, optionalDependencies, peerDependencies } = JSON.parse(
      readFileSync(join(ROOT, 'package.json'), 'utf8'),
    ) as Record<string, Record<string, string>>;
    const known = [
      'node:',
      ...Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }),
    ];
    // The page is bundled by the build.
    const loaded = SOURCES.filter(({ path }) => layerOf(path) !== 'ui');
    const wrong = loaded.flatMap(({ path, imports }) =>
      imports
        .filter(({ package: name, typeOnly }) => name && !typeOnly && !known.includes(name))
        .map(({ specifier }) => `${path} imports ${specifier}`),
    );
    expect(wrong).toEqual([]);
  });
});

describe('code that is pure or replayed', () => {
  const files = inLayers('core', 'workflows');

  it('uses no clock, no randomness and no process', () => {
    const worldly =
      /\b(Date\.now|new Date\b|Date\(|Math\.random|process\b|performance\b|crypto\b|Buffer\b|fetch\(|require\()/g;
    // This file alone may read the workflow VM's own clock, which Temporal sets when it replays.
    const others = files.filter(({ path }) => path !== 'workflows/clock.ts');
    expect(breaches(others, worldly)).toEqual([]);
  });

  it('sets no platform timer', () => {
    expect(breaches(files, /\b(setTimeout|setInterval|setImmediate|queueMicrotask)\b/g)).toEqual([]);
  });

  it('has no mutable module-level state', () => {
    expect(breaches(files, /^(export )?(let|var) .*/gm)).toEqual([]);
    expect(breaches(files, /^(export )?const \w+(: [^=]+)? = new (Map|Set|WeakMap|Array)\(\s*\)/gm)).toEqual(
      [],
    );
  });
});

/** What every subject of the store may import. */
const BELOW = /^store\/(crypto|schema|transaction)\//;

function storeImports(files: readonly SourceFile[]): { path: string; file: string }[] {
  return files.flatMap(({ path, imports }) =>
    imports.flatMap(({ file }) => (file?.startsWith('store/') ? [{ path, file }] : [])),
  );
}

describe('the store', () => {
  const leaf = /-(record|table)\.ts$/;

  it('has records and tables that import no command', () => {
    const leaves = inLayers('store').filter(({ path }) => leaf.test(path));
    expect(leaves.length).toBeGreaterThan(20);
    expect(storeImports(leaves).filter(({ file }) => !leaf.test(file) && !BELOW.test(file))).toEqual([]);
  });

  it('has a transaction that imports no command', () => {
    const parts = inLayers('store').filter(({ path }) => path.startsWith('store/transaction/'));
    expect(storeImports(parts).filter(({ file }) => !leaf.test(file) && !BELOW.test(file))).toEqual([]);
  });

  // On PostgreSQL no write waits for its row count (postgres/connection.ts, A4).
  it('checks the effect of a write by `returning`', () => {
    expect(breaches(inLayers('store'), /\bnum(Inserted|Updated|Deleted|Changed)\w*/g)).toEqual([]);
  });
});

describe('files', () => {
  it('stay within 500 lines', () => {
    const long = SOURCES.filter(({ lines }) => lines > 500);
    expect(long.map(({ path, lines }) => `${path}: ${lines}`)).toEqual([]);
  });

  it('have kebab-case names that name their subject', () => {
    const segments = SOURCES.flatMap(({ path }) => path.split('/').map((segment) => ({ path, segment })));
    const kebab = /^[a-z0-9]+(-[a-z0-9]+)*(\.tsx?)?$/;
    const idle = /^(utils?|helpers?|common|misc)(\.ts)?$/;
    expect(segments.filter(({ segment }) => !kebab.test(segment) || idle.test(segment))).toEqual([]);
  });

  it('begin with a comment about their purpose', () => {
    const silent = SOURCES.filter(({ text }) => !/^(#!.*\n)?\/\*\*[\s\S]{20,}?\*\//.test(text));
    expect(silent.map(({ path }) => path)).toEqual([]);
  });

  it('export by name', () => {
    expect(breaches(SOURCES, /^export default\b.*/gm)).toEqual([]);
  });

  it('name index.ts only as an entry', () => {
    const doors = SOURCES.filter(({ path }) => basename(path) === 'index.ts').map(
      ({ path }) => path.replace(/^(?:faces|remote)\//, '').split('/').length,
    );
    expect(doors.every((depth) => depth <= 2)).toBe(true);
  });
});

describe('the source reader', () => {
  const text = [
    '/** A header. import { no } from "./comment.ts"; */',
    "import type { A } from '../core/a.ts';",
    "import { type B, b } from './b.ts';",
    'import {',
    '  c,',
    "} from '@scope/name/deep';",
    "import 'side-effect';",
    "export * from './d.ts';",
    "export type { E } from './e.ts';",
    'const text = "import { x } from \'./string.ts\'; Date.now()"; // Math.random()',
    'const program = `',
    "import { y } from './template.ts';",
    '`;',
    "const lazy = () => import('node:fs');",
  ].join('\n');
  const source = readSource('store/commands/x.ts', text);

  it('finds every import, type-only and dynamic ones included', () => {
    expect(source.imports).toEqual([
      { specifier: '../core/a.ts', file: 'store/core/a.ts', package: undefined, typeOnly: true, lazy: false },
      { specifier: './b.ts', file: 'store/commands/b.ts', package: undefined, typeOnly: false, lazy: false },
      {
        specifier: '@scope/name/deep',
        file: undefined,
        package: '@scope/name',
        typeOnly: false,
        lazy: false,
      },
      { specifier: 'side-effect', file: undefined, package: 'side-effect', typeOnly: false, lazy: false },
      { specifier: './d.ts', file: 'store/commands/d.ts', package: undefined, typeOnly: false, lazy: false },
      { specifier: './e.ts', file: 'store/commands/e.ts', package: undefined, typeOnly: true, lazy: false },
      { specifier: 'node:fs', file: undefined, package: 'node:', typeOnly: false, lazy: true },
    ]);
  });

  it('ignores comments and strings', () => {
    expect(source.code).not.toMatch(/Date\.now|Math\.random|header/);
    expect(breaches([readSource('core/x.ts', 'const a = Date.now();')], /Date\.now/g)).toEqual([
      'core/x.ts: Date.now',
    ]);
  });

  it('finds a cycle', () => {
    const a = readSource('core/a.ts', "import { b } from './b.ts';");
    const b = readSource('core/b.ts', "import { c } from './c.ts';");
    const c = readSource('core/c.ts', "import { b } from './b.ts';");
    const erased = readSource('core/c.ts', "import type { b } from './b.ts';");
    expect(findCycle([a, b, c])).toEqual(['core/b.ts', 'core/c.ts', 'core/b.ts']);
    expect(findCycle([a, b, erased])).toBeUndefined();
    const far = readSource('core/far/c.ts', "import type { a } from '../a.ts';");
    const near = readSource('core/a.ts', "import { d } from './far/d.ts';");
    expect(findCycle([near, far])).toBeUndefined();
    expect(findCycle(withTypes([a, b, erased]))).toEqual(['core/b.ts', 'core/c.ts', 'core/b.ts']);
    expect(findCycle(foldersOf([near, far]))).toEqual(['core', 'core/far', 'core']);
  });

  it.each([
    ['core/a.ts', "import { x } from '../store/x.ts';", false],
    ['core/a.ts', "import { z } from 'zod';", true],
    ['core/a.ts', "import { x } from 'node:fs';", false],
    ['workflows/a.ts', "import type { Activities } from '../core/thread/activities.ts';", true],
    ['workflows/a.ts', "import type { x } from '../activities/index.ts';", false],
    ['store/a.ts', "import { x } from '../models/x.ts';", false],
    ['store/a.ts', "import { x } from '@temporalio/client';", false],
    ['activities/a.ts', "import { queueMessage } from '../workflows/messages.ts';", true],
    ['activities/a.ts', "import { thread } from '../workflows/thread.ts';", false],
    ['client/a.ts', "import type { thread } from '../workflows/thread.ts';", true],
    ['client/a.ts', "import type { x } from '../activities/index.ts';", false],
    ['definitions/a.ts', "import { x } from '../models/x.ts';", false],
    ['cli/a.ts', "import { createWorker } from '../worker/index.ts';", true],
    ['cli/a.ts', "import { x } from '../testing/index.ts';", false],
    ['ui/a.tsx', "import { x } from '../client/http/patience.ts';", true],
    ['ui/a.tsx', "import type { Answers } from '../client/http/answers.ts';", true],
    ['ui/a.tsx', "import { x } from '../client/runtime-client.ts';", false],
    ['ui/a.tsx', "import { EVENT_KINDS } from '../core/event/thread-event.ts';", false],
    ['server/a.ts', "import { x } from '../ui/main.tsx';", false],
    ['worker.ts', "import { x } from './testing/index.ts';", false],
    ['worker.ts', "import { x } from './activities/index.ts';", true],
    ['worker/a.ts', "import { x } from '../activities/index.ts';", true],
    ['worker/a.ts', "import { x } from '../cli/output/logger.ts';", false],
    ['configuration.ts', "import { x } from './worker/index.ts';", false],
    ['unknown/a.ts', "import { x } from './b.ts';", false],
  ])('reads the import %s of %s: %j', (path, line, allowed) => {
    const [imported] = readSource(path, line).imports;
    expect(imported && mayImport(path, imported)).toBe(allowed);
  });
});
