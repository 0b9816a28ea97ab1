/**
 * Shared by all commands: `--project` and `--json`, parsers of option values, and the path of a handler's exit code to
 * `main`.
 */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';

export interface Cli {
  exitCode: number;
}

export interface CommonOptions {
  /** Absolute. */
  readonly project: string;
  readonly json?: boolean;
}

export interface WaitOptions {
  readonly wait?: boolean;
  /** Seconds. */
  readonly timeout?: number;
}

export const GROUPS = { run: 'Running agents:', talk: 'Talking to them:', project: 'Project:' } as const;

/** The argument of commands about a thread; `connection/complete-ids.ts` completes it. */
export const THREAD_ARGUMENT = ['<thread>', 'id of the thread, or a unique beginning of it'] as const;

export function addCommon(command: Command): Command {
  return command
    .addOption(
      new Option('-p, --project <dir>', 'folder of the project, which contains agents/')
        .argParser(parseFolder)
        .default(process.cwd(), 'this folder'),
    )
    .option('--json', 'print the result as JSON');
}

export function addWait(command: Command): Command {
  return command
    .option('-w, --wait', 'show the answer as it arrives, and exit when the thread is at rest')
    .option('--timeout <seconds>', 'with --wait: give up after this time', parsePositive);
}

export function addTaskQueue(command: Command): Command {
  return command.option(
    '-q, --task-queue <name>',
    'task queue of the workers (default: EVERTHREAD_TASK_QUEUE, else "everthread")',
  );
}

export function addHealth(command: Command): Command {
  return command.option(
    '--health <host:port>',
    'address of /healthz, /readyz and /metrics, or "off" (default: EVERTHREAD_HEALTH, else 127.0.0.1:9464 or a free port)',
  );
}

/** Wraps a handler, which returns its exit code or undefined for 0; `main` handles what it throws. */
export function withExitCode<A extends unknown[]>(
  cli: Cli,
  handler: (...args: A) => Promise<number | undefined>,
): (...args: A) => Promise<void> {
  return async (...args) => {
    cli.exitCode = (await handler(...args)) ?? 0;
  };
}

export function parseWhole(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new InvalidArgumentError('Give a whole number, 0 or more.');
}

export function parseCount(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isSafeInteger(value) && value >= 1) return value;
  throw new InvalidArgumentError('Give a whole number, 1 or more.');
}

export function parsePositive(text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new InvalidArgumentError('Give a number above 0.');
}

export function parseList(text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value)) return value;
  } catch {
    // The error below has an example.
  }
  throw new InvalidArgumentError(`Give a JSON array, such as '[1, "two"]'.`);
}

const UNITS: Readonly<Record<string, number>> = { '': 1, b: 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 };

/** Parses a number of bytes: `67108864`, `64mb`, `64 MiB`. */
export function parseBytes(text: string): number {
  const [, digits = '', unit = ''] = /^(\d+)\s*(b|[kmg]?)(?:i?b)?$/i.exec(text.trim()) ?? [];
  const bytes = Number(digits) * (UNITS[unit.toLowerCase()] ?? 0);
  if (digits !== '' && Number.isSafeInteger(bytes) && bytes > 0) return bytes;
  throw new InvalidArgumentError('Give a number of bytes above 0, such as 67108864 or 64mb.');
}

export function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // The error below has an example.
  }
  throw new InvalidArgumentError(`Give a JSON object, such as '{"city":"Paris"}'.`);
}

function parseFolder(text: string): string {
  const folder = resolve(text);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return folder;
  throw new InvalidArgumentError('There is no such folder.');
}
