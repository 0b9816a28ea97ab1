/**
 * Decides which `temporal` program this machine uses, installing one into the user's cache when there is none.
 * Ways, in order: EVERTHREAD_TEMPORAL_CLI, PATH, our cache, the official download, a build with Go.
 *
 * - A program is used only after it has reported a server version that is new enough.
 * - An explicit setting is never ignored silently: it works or it is an error.
 * - The cache holds only complete installations: each is staged, checked and renamed into place, under a lock.
 */

import { access, constants, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { errorMessage, RuntimeError } from '../core/value/error.ts';
import { givenVariables } from '../secret-environment.ts';
import { makeFolders } from '../store/folder/private-files.ts';
import { userCacheFolder } from './cache-folder.ts';
import { downloadTemporal, OFFICIAL_DOWNLOADS } from './download-binary.ts';
import { withFileLock } from './file-lock.ts';
import { packagePath } from './package-root.ts';
import { lastLines, runCommand } from './run-command.ts';
import { MINIMUM_SERVER_VERSION } from './server-settings.ts';
import { checkTemporalVersion, isAtLeast, type TemporalVersion } from './temporal-version.ts';

/** The release that is installed when the machine has none. `temporal/cli` pins the same. */
export const PINNED_CLI_VERSION = '1.8.2';

const PROGRAM = process.platform === 'win32' ? 'temporal.exe' : 'temporal';

export interface TemporalBinary {
  path: string;
  version: TemporalVersion;
  source: 'environment' | 'path' | 'cache' | 'download' | 'go build';
}

export interface FindOptions {
  /** Called with a line of text for the user before anything slow. */
  progress: (line: string) => void;
  /** The folder for installations; the user's cache folder by default. */
  cacheDir?: string;
  env?: NodeJS.ProcessEnv;
  /** Base address of the releases. */
  downloads?: string;
  /** Text of a checksums file that lists the accepted archives; for tests. */
  pins?: string;
}

/** @throws RuntimeError `InvalidConfiguration` (EVERTHREAD_TEMPORAL_CLI cannot be used), `TemporalUnavailable` (no way worked). */
export async function findTemporalBinary(options: FindOptions): Promise<TemporalBinary> {
  const { env = process.env } = options;
  const { EVERTHREAD_TEMPORAL_CLI: named } = givenVariables(env);
  if (named !== undefined) return useExplicit(named);
  const tried: string[] = [];
  const cacheDir = options.cacheDir ?? userCacheFolder(env);
  const installed = join(cacheDir, `temporal-cli-${PINNED_CLI_VERSION}`);
  const found = (await findOnPath(env, tried)) ?? (await findInCache(installed, tried));
  if (found) return found;
  return withFileLock(
    join(cacheDir, 'install.lock'),
    () => options.progress('Another process is installing the Temporal CLI: waiting for it'),
    async () =>
      (await findInCache(installed, [])) ?? (await install({ ...options, env }, cacheDir, installed, tried)),
  );
}

async function useExplicit(path: string): Promise<TemporalBinary> {
  const check = await checkTemporalVersion(path);
  if (check.ok) return { path, version: check.version, source: 'environment' };
  throw new RuntimeError(
    'InvalidConfiguration',
    `EVERTHREAD_TEMPORAL_CLI cannot be used: ${check.reason}. Correct it, or unset it to let Everthread find one.`,
  );
}

async function findOnPath(env: NodeJS.ProcessEnv, tried: string[]): Promise<TemporalBinary | undefined> {
  const candidates = (env.PATH ?? '')
    .split(delimiter)
    .filter(Boolean)
    .map((folder) => join(folder, PROGRAM));
  for (const path of candidates) {
    if (!(await isExecutable(path))) continue;
    const check = await checkTemporalVersion(path);
    if (check.ok) return { path, version: check.version, source: 'path' };
    tried.push(`PATH: ${check.reason}`);
    return undefined;
  }
  tried.push('PATH: no "temporal" there');
  return undefined;
}

async function findInCache(folder: string, tried: string[]): Promise<TemporalBinary | undefined> {
  const path = join(folder, PROGRAM);
  if (!(await isExecutable(path))) {
    tried.push(`cache: nothing at ${path}`);
    return undefined;
  }
  const check = await checkTemporalVersion(path);
  if (check.ok) return { path, version: check.version, source: 'cache' };
  tried.push(`cache: ${check.reason}`);
  return undefined;
}

type InstallOptions = FindOptions & { env: NodeJS.ProcessEnv };

async function install(
  { progress, env, downloads = OFFICIAL_DOWNLOADS, pins }: InstallOptions,
  cacheDir: string,
  installed: string,
  tried: string[],
): Promise<TemporalBinary> {
  const version = PINNED_CLI_VERSION;
  const ways = [
    {
      source: 'download' as const,
      run: (folder: string) => downloadTemporal({ version, folder, base: downloads, progress, pins }),
    },
    {
      source: 'go build' as const,
      run: (folder: string) => buildTemporal({ version, output: join(folder, PROGRAM), env, progress }),
    },
  ];
  progress(`No Temporal CLI found: installing version ${version} into ${installed}`);
  for (const { source, run } of ways) {
    try {
      const checked = await installInto(cacheDir, installed, run);
      progress(`Installed the Temporal CLI ${checked.cli} (server ${checked.server})`);
      return { path: join(installed, PROGRAM), version: checked, source };
    } catch (error) {
      tried.push(`${source}: ${errorMessage(error)}`);
      progress(`The ${source} did not work: ${errorMessage(error)}`);
    }
  }
  throw new RuntimeError('TemporalUnavailable', unavailableMessage(tried));
}

/** Nothing incomplete ever has the final name. */
async function installInto(
  cacheDir: string,
  installed: string,
  make: (folder: string) => Promise<void>,
): Promise<TemporalVersion> {
  makeFolders(cacheDir, 0o700);
  const staging = await mkdtemp(join(cacheDir, 'installing-'));
  const kept = join(staging, 'kept');
  try {
    await make(staging);
    const check = await checkTemporalVersion(join(staging, PROGRAM));
    if (!check.ok) throw new Error(check.reason);
    await mkdir(kept);
    await rename(join(staging, PROGRAM), join(kept, PROGRAM));
    await rm(installed, { recursive: true, force: true });
    await rename(kept, installed);
    return check.version;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

function unavailableMessage(tried: string[]): string {
  return [
    `No Temporal server can be started: no "temporal" program with server ${MINIMUM_SERVER_VERSION} or newer. Tried:`,
    ...tried.map((line) => `  - ${line}`),
    'Do one of the following:',
    '  - install the Temporal CLI (https://docs.temporal.io/cli) so that "temporal" is on PATH',
    '  - set TEMPORAL_ADDRESS=host:port to use a Temporal service that already runs',
    '  - install Go 1.21 or newer and try again: it is then built from source, which takes 3 minutes',
    '  - set EVERTHREAD_TEMPORAL_CLI to the path of a "temporal" program',
  ].join('\n');
}

const MIN_GO_VERSION = '1.21';
const PROGRESS_INTERVAL_MS = 15_000;

interface BuildOptions {
  version: string;
  /** Path of the program to write. */
  output: string;
  env: NodeJS.ProcessEnv;
  progress: (line: string) => void;
}

/**
 * Builds the Temporal CLI with Go from the module that `temporal/cli` pins: its go.sum fixes every source file, and
 * only the Go module proxy is needed. Failures throw a plain Error whose message is the reason.
 */
async function buildTemporal({ version, output, env, progress }: BuildOptions): Promise<void> {
  const go = await findGoVersion(env);
  progress(`Building the Temporal CLI ${version} with Go ${go}: about 3 minutes, only the first time`);
  const started = performance.now();
  const timer = setInterval(
    () => progress(`  still building (${Math.round((performance.now() - started) / 1000)} s)`),
    PROGRESS_INTERVAL_MS,
  );
  const result = await runCommand('go', buildArguments(version, output), {
    cwd: packagePath('temporal', 'cli'),
    // A workspace or flags of the user's own Go projects must not affect this build.
    env: { ...env, GOWORK: 'off', GOFLAGS: '' },
  }).finally(() => clearInterval(timer));
  if (result.code !== 0)
    throw new Error(`go build failed (exit code ${result.code}): ${lastLines(result.output, 5)}`);
}

function buildArguments(version: string, output: string): string[] {
  const flags = `-s -w -X github.com/temporalio/cli/internal/temporalcli.Version=${version}`;
  return ['build', '-trimpath', '-ldflags', flags, '-o', output, 'github.com/temporalio/cli/cmd/temporal'];
}

async function findGoVersion(env: NodeJS.ProcessEnv): Promise<string> {
  const { output } = await runCommand('go', ['version'], { env, timeoutMs: 20_000 });
  const version = /go version go([\d.]+)/.exec(output)?.[1];
  if (version === undefined) throw new Error('no working "go" on PATH');
  if (!isAtLeast(version, MIN_GO_VERSION))
    throw new Error(`Go ${version} is too old; ${MIN_GO_VERSION} or newer is needed`);
  return version;
}
