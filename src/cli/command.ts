/**
 * A command as a value: what it is given, what its help says, and what it does. `main.ts` makes the `everthread` command
 * of these values. Here are the values' types, what all commands are given, and parsers of what is given.
 */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { isRecord } from '../core/value/record.ts';
import type { IdKind } from '../store/id/id-record.ts';

/** An argument, or an option that is called as its key; `T` is what the command gets. */
export interface Parameter<T> {
  readonly help: string;
  /** Value of an option as its help shows it: `<n>`, `[port]`, `<scope...>`. */
  readonly value?: string;
  /** A second name of an option, such as `-w`. */
  readonly short?: string;
  /** True for an argument that must be given. */
  readonly required?: boolean;
  /** True for an argument that takes all words that are left. */
  readonly variadic?: boolean;
  /** True for an option that `--no-…` turns off. */
  readonly negated?: boolean;
  readonly choices?: readonly T[];
  readonly default?: T;
  /** The default as the help shows it. */
  readonly defaultText?: string;
  /** Keys of the options that exclude this one. */
  readonly conflicts?: readonly string[];
  /** Kind of the id that it takes: a unique beginning of one is completed. */
  readonly id?: IdKind;
  parse?(text: string, before?: T): T;
}

export type Parameters = Readonly<Record<string, Parameter<unknown>>>;

/** The parameters of a command without any. */
export type None = Record<never, never>;

/** What a command gets: its arguments and its options by their keys. */
export type Values<P> = { readonly [K in keyof P]: P[K] extends Parameter<infer T> ? T : never };

export interface CommonOptions {
  /** Absolute. */
  readonly project: string;
  readonly json?: boolean;
}

/** What a command has done, and how it is printed: as `json` with `--json`, else for people. */
export interface CommandOutcome {
  readonly json: unknown;
  /** Printed on standard output. */
  readonly text?: string;
  /** Printed on standard error, and `hint` dimmed after it. */
  readonly note?: string;
  readonly hint?: string;
  /** Default: 0. */
  readonly exit?: number;
}

/** A command that has printed what it does returns its exit code, or nothing for 0. */
export type Result = Promise<CommandOutcome | number | undefined>;

/** A command, apart from what it does. */
export interface Description<A, O> {
  /** As lists of commands show it; those of `command-table.ts` have it there. */
  readonly summary?: string;
  readonly description: string;
  readonly arguments?: A;
  readonly options?: O;
  /** Text below the help. */
  readonly help?: string;
  /** Set if it loads the project's models, which read their settings when they are loaded. */
  readonly envFile?: 'announced' | 'quiet';
  readonly commands?: Readonly<Record<string, CommandDefinition>>;
}

export type Input<A, O> = Values<A> & Values<O> & CommonOptions;

interface Definition<A, O> extends Description<A, O> {
  /** Absent if it only has commands below it. */
  run?(input: Input<A, O>): Result;
}

export type CommandDefinition = Definition<Parameters, Parameters>;

/** Returns the definition; what `run` gets has the types of the arguments and options. */
export function command<A extends Parameters = None, O extends Parameters = None>(
  definition: Definition<A, O>,
): CommandDefinition {
  return definition;
}

export function parameter<T>(given: Parameter<T>): Parameter<T> {
  return given;
}

export function argument(help: string, id?: IdKind): Parameter<string> {
  return { help, id, required: true };
}

export function optional(help: string, id?: IdKind): Parameter<string | undefined> {
  return { help, id };
}

export function toggle(help: string): Parameter<boolean | undefined> {
  return { help };
}

export function negated(help: string): Parameter<boolean> {
  return { help, negated: true };
}

/** An option with a value, which is parsed, or is one of several. */
export function option<T = string, D extends T | undefined = undefined>(
  value: string,
  help: string,
  accepts?: Parser<T> | readonly T[],
  standard?: D,
): Parameter<NoInfer<T | D>> {
  return {
    help,
    value,
    default: standard as D,
    ...(typeof accepts === 'function' ? { parse: accepts } : { choices: accepts }),
  };
}

type Parser<T> = (text: string, before?: T) => T;

/** An option with an id, whose beginning is completed. */
export function idOption(id: IdKind, help: string): Parameter<string | undefined> {
  return { help, value: '<id>', id };
}

const whole = Number.isSafeInteger;
export const parseWhole = numeric((value) => whole(value) && value >= 0, 'a whole number, 0 or more');
export const parseCount = numeric((value) => whole(value) && value >= 1, 'a whole number, 1 or more');
export const parsePositive = numeric((value) => Number.isFinite(value) && value > 0, 'a number above 0');

/** A parser of numbers; `wanted` says in its error which ones it accepts. */
export function numeric(accepts: (value: number) => boolean, wanted: string): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() !== '' && accepts(value)) return value;
    throw new InvalidArgumentError(`Give ${wanted}.`);
  };
}

export const parseList = json(
  (value): value is unknown[] => Array.isArray(value),
  `a JSON array, such as '[1, "two"]'`,
);
export const parseObject = json(isRecord, `a JSON object, such as '{"city":"Paris"}'`);

function json<T>(accepts: (value: unknown) => value is T, wanted: string): (text: string) => T {
  return (text) => {
    try {
      const value: unknown = JSON.parse(text);
      if (accepts(value)) return value;
    } catch {
      // The error below has an example.
    }
    throw new InvalidArgumentError(`Give ${wanted}.`);
  };
}

export const THREAD = argument('id of the thread, or a unique beginning of it', 'thread');

export const TASK_QUEUE = {
  taskQueue: {
    ...option('<name>', 'task queue of the workers (default: EVERTHREAD_TASK_QUEUE, else "everthread")'),
    short: '-q',
  },
};

export const WAIT = {
  wait: { ...toggle('show the answer as it arrives, and exit when the thread is at rest'), short: '-w' },
  timeout: option('<seconds>', 'with --wait: give up after this time', parsePositive),
};

export const HEALTH = {
  health: option(
    '<host:port>',
    'address of /healthz, /readyz and /metrics, or "off" (default: EVERTHREAD_HEALTH, else 127.0.0.1:9464 or a free port)',
  ),
};

/** The options of every command; the folder is the one in which the command is called. */
export function commonOptions(): Parameters {
  return {
    project: {
      help: 'folder of the project, which contains agents/',
      value: '<dir>',
      short: '-p',
      parse: parseFolder,
      default: process.cwd(),
      defaultText: 'this folder',
    },
    json: toggle('print the result as JSON'),
  };
}

const UNITS: Readonly<Record<string, number>> = { '': 1, b: 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 };

/** Parses a number of bytes: `67108864`, `64mb`, `64 MiB`. */
export function parseBytes(text: string): number {
  const [, digits = '', unit = ''] = /^(\d+)\s*(b|[kmg]?)(?:i?b)?$/i.exec(text.trim()) ?? [];
  const bytes = Number(digits) * (UNITS[unit.toLowerCase()] ?? 0);
  if (digits !== '' && Number.isSafeInteger(bytes) && bytes > 0) return bytes;
  throw new InvalidArgumentError('Give a number of bytes above 0, such as 67108864 or 64mb.');
}

function parseFolder(text: string): string {
  const folder = resolve(text);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return folder;
  throw new InvalidArgumentError('There is no such folder.');
}
