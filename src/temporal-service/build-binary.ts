/**
 * Builds the Temporal CLI with Go from the module that `temporal/cli` pins: its go.sum fixes every source file,
 * and only the Go module proxy is needed. Failures throw a plain Error whose message is the reason.
 */
import { packagePath } from './package-root.ts';
import { lastLines, runCommand } from './run-command.ts';
import { isAtLeast } from './temporal-version.ts';

const MIN_GO_VERSION = '1.21';
const PROGRESS_INTERVAL_MS = 15_000;

export interface BuildOptions {
  version: string;
  /** Path of the program to write. */
  output: string;
  env: NodeJS.ProcessEnv;
  progress: (line: string) => void;
}

export async function buildTemporal({ version, output, env, progress }: BuildOptions): Promise<void> {
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
