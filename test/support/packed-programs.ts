/**
 * Bundles the programs that tests start into few files; `plain-imports.mjs` makes their processes load those files
 * instead. Node takes half a millisecond of computing per module, and a worker loads six hundred. The bundle is made
 * once per state of the sources, and cached in the clone.
 * P1. A process loads either sources or the pack, never both: modules of `src` that a packed program loads must be
 *     entries of the pack.
 * P2. In a packed module, `import.meta` is that of its source.
 * P3. Packed workers run the tests' workflow bundle with its empty source map: reading the full map is a twelfth of a
 *     worker's start.
 */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Plugin, rolldown } from 'rolldown';
import { parseAst } from 'rolldown/parseAst';

const ROOT = join(import.meta.dirname, '..', '..');
const CACHE = join(ROOT, 'node_modules', '.cache', 'everthread-programs');
const KEPT_MS = 24 * 3600_000;

/**
 * Programs that tests start; `bin/everthread.js` starts the first. Programs that print source positions in stacks are
 * not packed.
 */
const PROGRAMS = [
  'src/cli/start.ts',
  'src/cli/serve/api-program.ts',
  'src/cli/worker/worker-program.ts',
  'src/cli/worker/lone-program.ts',
  'scripts/demo/main.ts',
  'scripts/demo/worker.ts',
  'test/contract/store-process.ts',
  'test/faults/two-everthreads-worker.ts',
  'test/fuzz/fuzz-worker.ts',
  'test/mcp/kill-worker-process.ts',
  'test/once/command-process.ts',
  'test/support/adapter-process.ts',
  'test/support/api-process.ts',
  'test/support/budget-tree-worker.ts',
  'test/support/newer-worker-process.ts',
  'test/support/producer-process.ts',
  'test/support/turn-worker-process.ts',
  'test/support/worker-process.ts',
];

/** Folders of example programs of the documentation: every file in them is a program. */
const EXAMPLES = ['examples/agenticx', 'examples/client', 'examples/protolink', 'examples/tangle'];

/** Packages that only our sources load. */
const WITHIN = ['prom-client', '@opentelemetry/api', 'tdigest', 'bintrees'];

/** The package's entries, which projects of authors import (src/definitions/module-loader.ts). */
function findDoors(): string[] {
  const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    exports: Readonly<Record<string, string | { readonly default: string }>>;
  };
  const built = Object.values(exports).flatMap((entry) => (typeof entry === 'string' ? [] : [entry.default]));
  return [
    ...built.map((path) => path.replace('./dist/', 'src/').replace(/\.js$/, '.ts')),
    'src/standard-agents.ts',
  ];
}

const findExamples = () =>
  EXAMPLES.flatMap((folder) => readdirSync(join(ROOT, folder)).map((file) => `${folder}/${file}`));

/** Returns the folder; its `entries.json` maps the URL of each entry's source to its packed file. */
export async function packPrograms(): Promise<string> {
  const folder = join(CACHE, hashSources());
  if (existsSync(folder)) return folder;
  const unfinished = `${folder}.${process.pid}`;
  try {
    await pack(unfinished);
    removeOld();
    renameSync(unfinished, folder);
  } catch (error) {
    // Another process has made the folder in the meantime.
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return folder;
}

async function pack(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const entries = [...PROGRAMS, ...findExamples(), ...findDoors()].map(
    (path) => [nameOf(path), path] as const,
  );
  const bundle = await rolldown({
    input: Object.fromEntries(entries.map(([name, path]) => [name, join(ROOT, path)])),
    platform: 'node',
    external: (id) => !id.startsWith('.') && !id.startsWith('/') && !WITHIN.includes(id),
    plugins: [withTestBundle, atItsSource],
    logLevel: 'warn',
  });
  await bundle.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].mjs',
    chunkFileNames: 'chunk-[name]-[hash].mjs',
  });
  await bundle.close();
  const files = entries.map(([name, path]) => [pathToFileURL(join(ROOT, path)).href, `${name}.mjs`]);
  writeFileSync(join(folder, 'entries.json'), JSON.stringify(Object.fromEntries(files)));
}

const nameOf = (path: string) => path.replace(/\.ts$/, '').replaceAll('/', '-');

const BUNDLE = "'./thread.bundle.js'";

/** P3. */
const withTestBundle: Plugin = {
  name: 'with-test-bundle',
  transform(code, id) {
    if (id !== join(ROOT, 'src', 'workflow-bundle.ts')) return undefined;
    if (!code.includes(BUNDLE)) throw new Error(`${id} does not ask for ${BUNDLE}`);
    return code.replace(BUNDLE, `process.env.EVERTHREAD_TEST_BUNDLE ?? ${BUNDLE}`);
  },
};

/** P2. */
const atItsSource: Plugin = {
  name: 'at-its-source',
  transform(code, id) {
    if (!code.includes('import.meta')) return undefined;
    const values: Readonly<Record<string, string | boolean>> = {
      url: pathToFileURL(id).href,
      filename: id,
      dirname: join(id, '..'),
      // No packed module is the main program: entries run unconditionally, and a module that checks `main` is started
      // as a source.
      main: false,
    };
    const places: { start: number; end: number; value: string }[] = [];
    visit(parseAst(code, { lang: 'ts' }, id), (node) => {
      if (node.type !== 'MemberExpression' || node.object?.type !== 'MetaProperty') return;
      const value = values[node.property?.name ?? ''];
      if (value === undefined) throw new Error(`${id} asks for import.meta.${node.property?.name}`);
      places.push({ start: node.start, end: node.end, value: JSON.stringify(value) });
    });
    return places
      .sort((one, other) => other.start - one.start)
      .reduce((text, { start, end, value }) => text.slice(0, start) + value + text.slice(end), code);
  },
};

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly name?: string;
  readonly object?: Node;
  readonly property?: Node;
}

function visit(node: unknown, see: (node: Node) => void): void {
  if (typeof node !== 'object' || node === null) return;
  if ('type' in node) see(node as Node);
  for (const child of Object.values(node)) visit(child, see);
}

/** Hashes paths too: the paths of the clone are part of the packed files (P2). */
function hashSources(): string {
  const hash = createHash('sha256');
  const files = [
    ...['src', 'agents', 'scripts/demo', 'scripts/web', ...EXAMPLES],
    ...['test/contract', 'test/faults', 'test/fuzz', 'test/mcp', 'test/once', 'test/support'],
  ]
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) =>
        join(ROOT, folder, file),
      ),
    )
    .filter((file) => extname(file) === '.ts')
    .sort();
  for (const file of [join(ROOT, 'node_modules', '.package-lock.json'), join(ROOT, 'package.json'), ...files])
    hash.update(`\0${file}\0`).update(readFileSync(file));
  return hash.digest('hex').slice(0, 16);
}

/** Removes packs of other states of the sources after 24 hours; another run may still need newer ones. */
function removeOld(): void {
  for (const folder of readdirSync(CACHE).map((name) => join(CACHE, name))) {
    const { mtimeMs = Number.POSITIVE_INFINITY } = statSync(folder, { throwIfNoEntry: false }) ?? {};
    if (Date.now() - mtimeMs > KEPT_MS) rmSync(folder, { recursive: true, force: true });
  }
}
