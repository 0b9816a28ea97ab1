/** Runs files through the runner in a separate Jest process, and returns its report. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

/** Timeout of the Jest process: a process that hangs fails with a message. */
const LONGEST_MS = 120_000;
const ROOT = join(import.meta.dirname, '..', '..');

export interface FileReport {
  /** `passed` or `failed`. */
  readonly status: string;
  readonly message: string;
  /** Status of each test, by its full name. */
  readonly tests: Readonly<Record<string, string>>;
}

export interface JestReport {
  readonly code: number | null;
  readonly said: string;
  /** Report of each file, by its name; empty if the process has reported no results. */
  readonly files: Readonly<Record<string, FileReport>>;
}

/** Runs the files in the order of their names. */
export async function runJest(
  sources: Readonly<Record<string, string>>,
  ...options: string[]
): Promise<JestReport> {
  const folder = writeFiles(sources);
  try {
    return await runJestIn(folder, options);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Writes the files and returns their folder, which the caller removes. */
export function writeFiles(sources: Readonly<Record<string, string>>): string {
  const folder = join(tmpdir(), `everthread-runner-${randomUUID()}`);
  mkdirSync(folder);
  for (const [name, source] of Object.entries(sources)) writeFileSync(join(folder, `${name}.mjs`), source);
  return folder;
}

/** Runs the files of a folder, which also receives the report. `env` is added to this process's environment. */
export async function runJestIn(
  folder: string,
  options: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<JestReport> {
  const config = {
    rootDir: folder,
    runner: join(import.meta.dirname, 'index.mjs'),
    testMatch: ['**/*.mjs'],
    testSequencer: join(import.meta.dirname, 'by-name.cjs'),
    transform: {},
  };
  const output = join(folder, `output-${randomUUID()}.json`);
  const { code, said } = await runNode(
    [
      join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js'),
      '--runInBand',
      `--config=${JSON.stringify(config)}`,
      `--outputFile=${output}`,
      '--json',
      ...options,
    ],
    folder,
    env,
  );
  return { code, said, files: readFiles(output) };
}

function runNode(
  args: string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<{ code: number | null; said: string }> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      args,
      { cwd, env: { ...process.env, ...env }, timeout: LONGEST_MS, killSignal: 'SIGKILL' },
      (_error, stdout, stderr) => resolve({ code: child.exitCode, said: stdout + stderr }),
    );
  });
}

interface Output {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

function readFiles(path: string): Record<string, FileReport> {
  let output: Output;
  try {
    output = JSON.parse(readFileSync(path, 'utf8')) as Output;
  } catch {
    return {};
  }
  return Object.fromEntries(
    output.testResults.map(({ name, status, message, assertionResults }) => [
      basename(name, '.mjs'),
      {
        status,
        message,
        tests: Object.fromEntries(
          assertionResults.map(({ fullName, status: outcome }) => [fullName, outcome]),
        ),
      },
    ]),
  );
}
