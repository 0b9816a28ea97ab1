/**
 * Creates projects outside the clone with the package's declarations in node_modules, and checks each with one run of
 * the compiler.
 */
import { execFile } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, extname, join } from 'node:path';
import { promisify } from 'node:util';
import { buildPackage } from './built-package.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const TSC = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
const run = promisify(execFile);

/** The strictest options that a project can have, with declarations of its own. */
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
  // As the documentation for authors shows: files written for the standard are checked against this package.
  paths: { '@standardagents/*': ['./node_modules/everthread/dist/standard-agents.d.ts'] },
  declaration: true,
  // The package's declarations are checked too.
  skipLibCheck: false,
  noEmit: true,
};

export interface Diagnostic {
  readonly line: number;
  readonly code: string;
  /** Message with its explanatory lines, indented. */
  readonly message: string;
}

export interface Consumer {
  /** Folder of the declarations that the build emits for `src`. */
  readonly declarations: string;
  /** Checks files, given by their paths in the project; returns the diagnostics of each. */
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
  // Third-party clients that the documentation uses.
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

/** Compiles with one thread, as in `scripts/test.mjs`. */
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
    // A message without a position concerns the project as a whole.
    if (!last) found.push(['', { line: 0, code: '', message: text }]);
    else found.push([last[0], { ...last[1], message: `${last[1].message}\n${text}` }]);
  }
  return new Map(
    [...Map.groupBy(found, ([file]) => file)].map(([file, each]) => [file, each.map(([, one]) => one)]),
  );
}
