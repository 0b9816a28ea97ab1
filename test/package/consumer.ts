/** Projects outside the clone that have the package's declarations in its node_modules, each checked by one run of the compiler. */
import { execFile } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, extname, join } from 'node:path';
import { promisify } from 'node:util';
import { buildPackage } from './built-package.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const TSC = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
const run = promisify(execFile);

/** As strict as a project can be, and with declarations of its own. */
const OPTIONS = {
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noImplicitOverride: true,
  verbatimModuleSyntax: true,
  isolatedModules: true,
  module: 'nodenext',
  target: 'es2024',
  types: ['node'],
  // As the page for authors has it: files written for the standard are checked against this package.
  paths: { '@standardagents/*': ['./node_modules/everthread/dist/standard-agents.d.ts'] },
  declaration: true,
  // Those of the package are checked too.
  skipLibCheck: false,
  noEmit: true,
};

export interface Diagnostic {
  readonly line: number;
  readonly code: string;
  /** With the lines that explain it, indented. */
  readonly message: string;
}

export interface Consumer {
  /** What the build emits for `src`. */
  readonly declarations: string;
  /** Checks files by their paths in the project; answers what is wrong with each. */
  check(files: ReadonlyMap<string, string>): Promise<ReadonlyMap<string, readonly Diagnostic[]>>;
  /** Checks a project that has a tsconfig.json of its own, as if the package were installed there. */
  checkProject(folder: string): Promise<ReadonlyMap<string, readonly Diagnostic[]>>;
  remove(): void;
}

export async function createConsumer(): Promise<Consumer> {
  const project = mkdtempSync(join(tmpdir(), 'everthread-types-'));
  const modules = join(project, 'node_modules');
  const declarations = join(modules, 'everthread', 'dist');
  mkdirSync(declarations, { recursive: true });
  copyFileSync(join(ROOT, 'package.json'), join(modules, 'everthread', 'package.json'));
  // With the clients of others, which pages show.
  const clients = ['openai', 'ai', '@ai-sdk', '@ag-ui', '@a2a-js'];
  for (const name of ['zod', '@types', '@temporalio', 'undici-types', ...clients]) {
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name), 'dir');
  }
  writeFileSync(join(project, 'package.json'), JSON.stringify({ type: 'module' }));
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions: OPTIONS }));
  const isWanted = (path: string) => extname(path) === '' || path.endsWith('.d.ts');
  cpSync(await buildPackage(), declarations, { recursive: true, filter: isWanted });
  return {
    declarations,
    check: (files) => {
      writeFiles(project, files);
      return compile(project);
    },
    checkProject: (folder) => {
      symlinkSync(modules, join(folder, 'node_modules'), 'dir');
      return compile(folder);
    },
    remove: () => rmSync(project, { recursive: true, force: true }),
  };
}

function writeFiles(project: string, files: ReadonlyMap<string, string>): void {
  for (const [path, text] of files) {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), text);
  }
}

/** With one thread, as in `scripts/test.mjs`. */
async function compile(project: string) {
  const { stdout } = await run(
    process.execPath,
    [TSC, '-p', project, '--pretty', 'false', '--singleThreaded'],
    {
      cwd: project,
      maxBuffer: 64 * 1024 * 1024,
    },
  ).catch((failure: { stdout: string }) => failure);
  return parse(stdout);
}

const HEAD = /^(.+?)\((\d+),\d+\): error (TS\d+): (.*)$/;

function parse(output: string): ReadonlyMap<string, readonly Diagnostic[]> {
  const found: [file: string, Diagnostic][] = [];
  for (const text of output.split('\n').filter((each) => each !== '')) {
    const [, file, line, code, message] = HEAD.exec(text) ?? [];
    if (file !== undefined) {
      found.push([file, { line: Number(line), code: code as string, message: message as string }]);
      continue;
    }
    const last = found.pop();
    // Without a place: of the project as a whole.
    if (!last) found.push(['', { line: 0, code: '', message: text }]);
    else found.push([last[0], { ...last[1], message: `${last[1].message}\n${text}` }]);
  }
  return new Map(
    [...Map.groupBy(found, ([file]) => file)].map(([file, each]) => [file, each.map(([, one]) => one)]),
  );
}
