/**
 * Creates a fresh isolate with the sandbox's own code in it. The next one is created ahead, while the child is idle: no
 * isolate is used twice, but no run needs to wait for its creation.
 */
import { setFlagsFromString } from 'node:v8';
import ivm from 'isolated-vm';
import { LOG_ENTRY, SANDBOX_LIMITS, TRANSFER } from '../limits.ts';
import type { Job } from '../protocol.ts';
import { BOOT_GLOBAL, makeBootScript } from './boot-source.ts';
import { exitOutOfMemory } from './guarded-memory.ts';

/** File name of our own code, which distinguishes its stack frames from the user's; they are never shown. */
export const INTERNAL = 'sandbox:internal';

export type Deliver = (
  kind: 'answer' | 'refusal' | 'call' | 'loaded' | 'not_loaded',
  first: number,
  second: number,
  text: string,
  bytes?: Uint8Array,
) => Promise<unknown>;

export type GuestListener = (
  says: string,
  first: number,
  second: number,
  text: string,
  bytes?: ArrayBuffer,
) => Promise<void> | undefined;

export interface Booted {
  readonly isolate: ivm.Isolate;
  readonly context: ivm.Context;
  /** The boot module, from which the modules around the user's import. */
  readonly module: ivm.Module;
}

/** Exports of the boot module: for the modules around the user's, and for calls by the child. */
const BOOT_EXPORTS =
  'install, deliver, start, loaded, metaOf, loadFrom, globalOf, importOf, consoleOf, report';
const BOOT_MODULE =
  `const boot = globalThis.${BOOT_GLOBAL}; delete globalThis.${BOOT_GLOBAL}; ` +
  `export const { ${BOOT_EXPORTS} } = boot;`;

const MIB = 1024 * 1024;
const COPY_ARGUMENTS = { arguments: { copy: true } } as const;

const script = makeBootScript();
let cachedData: ivm.ExternalCopy<ArrayBuffer> | undefined;
let preparedIsolate: { readonly booted: Booted; readonly memory: number } | undefined;

/** Creates an isolate before the next run is known, with the default memory limit. */
export function prepareIsolate(): void {
  const memory = toMib(SANDBOX_LIMITS.memoryDefault);
  preparedIsolate ??= { booted: create(memory), memory };
}

export function boot({ memoryBytes }: Job): Booted {
  const memory = toMib(memoryBytes);
  if (preparedIsolate?.memory !== memory) return create(memory);
  const { booted } = preparedIsolate;
  preparedIsolate = undefined;
  return booted;
}

/** Gives the isolate its port and the run's inputs, before any user code runs. */
export function install({ module }: Booted, job: Job, say: GuestListener): Deliver {
  const setup = {
    inputs: job.inputs,
    limits: {
      ...TRANSFER,
      functions: SANDBOX_LIMITS.functions,
      inFlight: SANDBOX_LIMITS.callsInFlight,
      inFlightBytes: SANDBOX_LIMITS.callsInFlightBytes,
    },
    logs: LOG_ENTRY,
  };
  const reference = module.namespace.getSync('install', { reference: true });
  reference.applySync(undefined, [new ivm.Reference(say), setup], COPY_ARGUMENTS);
  const deliver = module.namespace.getSync('deliver', { reference: true });
  return (kind, first, second, text, bytes) =>
    deliver.apply(undefined, [kind, first, second, text, bytes && toBuffer(bytes)], COPY_ARGUMENTS);
}

function create(memoryLimit: number): Booted {
  const isolate = new ivm.Isolate({ memoryLimit, onCatastrophicError: exitOutOfMemory });
  const context = isolate.createContextSync();
  compileScript(isolate).runSync(context);
  const module = isolate.compileModuleSync(BOOT_MODULE, { filename: INTERNAL });
  module.instantiateSync(context, () => module);
  module.evaluateSync();
  return { isolate, context, module };
}

/** Compiles all functions of the sandbox eagerly, so that the code cache holds them; user code is compiled lazily. */
function compileScript(isolate: ivm.Isolate): ivm.Script {
  setFlagsFromString('--no-lazy');
  try {
    if (cachedData) return isolate.compileScriptSync(script, { filename: INTERNAL, cachedData });
    const compiled = isolate.compileScriptSync(script, { filename: INTERNAL, produceCachedData: true });
    cachedData = (compiled as { cachedData?: ivm.ExternalCopy<ArrayBuffer> }).cachedData;
    return compiled;
  } finally {
    setFlagsFromString('--lazy');
  }
}

function toMib(bytes: number): number {
  return Math.floor(bytes / MIB);
}

/** Copies exactly these bytes: a value from the channel may be a view into a larger buffer. */
function toBuffer({ buffer, byteOffset, byteLength }: Uint8Array): ArrayBuffer {
  return buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer;
}
