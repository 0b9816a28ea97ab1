/** Runs a program to its end and keeps its output: for short helpers (`--version`, `tar`, `go`), never for servers. */
import { spawn } from 'node:child_process';
import { errorMessage } from '../core/value/error.ts';

export interface CommandResult {
  /** Exit code; null when a signal ended it, or when it could not be started (then `output` says why). */
  code: number | null;
  /** Standard output and standard error, in order of arrival. */
  output: string;
}

export interface CommandOptions {
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  timeoutMs?: number;
}

export function runCommand(
  command: string,
  args: string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  const { env = process.env, cwd, timeoutMs } = options;
  return new Promise((resolve) => {
    let output = '';
    const child = spawn(command, args, {
      env,
      cwd,
      // Not spawn's own `timeout`: its timer keeps this process alive after a program that could not be started.
      signal: timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs),
      windowsHide: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const keep = (chunk: Buffer) => {
      output += chunk.toString();
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.on('error', (error) => resolve({ code: null, output: errorMessage(error) }));
    child.on('close', (code) => resolve({ code, output }));
  });
}

/** The last lines of a program's output, for error messages. */
export function lastLines(output: string, count: number): string {
  return output.trimEnd().split('\n').slice(-count).join('\n');
}
