/** Runs an escape program that could reach secrets, and finds everything that got out or was changed on this side. */
import { homedir } from 'node:os';
import { inspect } from 'node:util';
import type { SandboxScope } from '../../src/sandbox/index.ts';
import { type EscapeProgram, PROBE } from './escape-program.ts';

export const MARKER = 'everthread-marker-5f0c9a7d';

const FORBIDDEN = [
  'LEAK',
  MARKER,
  process.cwd(),
  homedir(),
  'node_modules',
  'file:/',
  'isolated-vm',
  'node:internal',
  'sandbox/child',
  'sandbox/guest',
  'default thread',
  '.test.ts',
].filter((text) => text.length > 1);

export interface Alarm {
  /** Unhandled errors that reached the process since the last call. */
  heard(): readonly string[];
  off(): void;
}

export function listenForAlarms(): Alarm {
  let heard: string[] = [];
  const rejection = (reason: unknown) => void heard.push(`unhandledRejection: ${inspect(reason)}`);
  const exception = (error: unknown) => void heard.push(`uncaughtException: ${inspect(error)}`);
  process.on('unhandledRejection', rejection);
  process.on('uncaughtExceptionMonitor', exception);
  return {
    heard() {
      const told = heard;
      heard = [];
      return told;
    },
    off() {
      process.off('unhandledRejection', rejection);
      process.off('uncaughtExceptionMonitor', exception);
    },
  };
}

/** The status of the run, leaks found in what reached the host, and all of that as text. */
export interface Outcome {
  readonly status: string;
  readonly leaks: readonly string[];
  readonly shown: string;
}

export async function runEscape(scope: SandboxScope, program: EscapeProgram): Promise<Outcome> {
  const secret = { marker: MARKER };
  const given: unknown[] = [];
  const reached: string[] = [];
  const keep = (value: unknown) => {
    given.push(value);
    return value;
  };
  /** Returns its arguments; the secret is in its closure and in its properties, and must stay there. */
  const host = Object.assign(
    function (this: unknown, ...args: unknown[]) {
      if (this !== undefined) reached.push(`LEAK this: ${inspect(this)}`);
      return secret.marker === MARKER ? keep(args.length === 1 ? args[0] : args) : undefined;
    },
    // A function that returned to the host is the host's own, and is not inspected.
    { secret, [Symbol('secret')]: secret, [inspect.custom]: () => '[come home]' },
  );
  const fail = async (text: unknown) => {
    throw Object.assign(new RangeError(String(text), { cause: secret }), { secret });
  };
  const call = async (fn: unknown, ...args: unknown[]) => {
    if (typeof fn === 'function') return keep(await fn(...args));
  };
  const isHost = (fn: unknown) => fn === host;
  const { options } = program;
  const { status, result, error, reports, logs } = await scope.runCode(program.source, {
    language: 'javascript',
    report: (value) => keep(value),
    ...options,
    globals: { host, fail, call, isHost, ...options?.globals },
    imports: { lib: { default: host, host, data: { a: 1 } }, ...options?.imports },
    modules: { './probe': PROBE, ...options?.modules },
  });
  const shown = inspect(
    { result, error, reports, logs, given },
    { depth: 20, maxArrayLength: 1000, showHidden: true },
  );
  const leaks = [
    ...reached,
    ...FORBIDDEN.filter((text) => shown.includes(text)).map((text) => `${text} in ${shown}`),
  ];
  return { status, leaks, shown };
}

const BUILTINS =
  'Object Array Function Promise Map Set WeakMap WeakSet WeakRef String Number Boolean Symbol BigInt Date RegExp Error ' +
  'TypeError RangeError SyntaxError AggregateError Proxy Reflect JSON Math Iterator ArrayBuffer Uint8Array DataView Buffer';

type Snapshot = ReadonlyMap<string, PropertyDescriptor | object | null>;

/** Own keys, descriptors and prototypes of the builtins. */
export function snapshotBuiltins(): Snapshot {
  const shot = new Map<string, PropertyDescriptor | object | null>();
  for (const name of BUILTINS.split(' ')) {
    const builtin = (globalThis as unknown as Record<string, { prototype?: object }>)[name];
    for (const [part, owner] of [
      ['', builtin],
      ['.prototype', builtin?.prototype],
    ] as const) {
      if (!owner) continue;
      shot.set(`${name}${part} above`, Object.getPrototypeOf(owner) as object | null);
      for (const key of Reflect.ownKeys(owner)) {
        const own = Object.getOwnPropertyDescriptor(owner, key) as PropertyDescriptor;
        shot.set(`${name}${part}.${String(key)}`, own);
      }
    }
  }
  shot.set('globalThis', { value: Reflect.ownKeys(globalThis).length });
  return shot;
}

export function changesOf(before: Snapshot, after: Snapshot): string[] {
  const isSame = (one: unknown, two: unknown): boolean => {
    if (Object.is(one, two)) return true;
    const [a, b] = [one, two] as [PropertyDescriptor | undefined, PropertyDescriptor | undefined];
    return (
      Object.is(a?.value, b?.value) &&
      a?.get === b?.get &&
      a?.set === b?.set &&
      a?.writable === b?.writable &&
      a?.configurable === b?.configurable
    );
  };
  const keys = new Set([...before.keys(), ...after.keys()]);
  return [...keys].filter(
    (key) => before.has(key) !== after.has(key) || !isSame(before.get(key), after.get(key)),
  );
}
