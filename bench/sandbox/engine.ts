/**
 * The engines under comparison, and the common form of a request to each: a module whose default export is the answer.
 */

/** `worker` is Node's own thread: it is no sandbox, and included for reference. */
export const ENGINES = ['everthread', 'quickjs', 'vm', 'worker'] as const;
export type EngineName = (typeof ENGINES)[number];

export type HostFunctions = Readonly<Record<string, (...args: never[]) => unknown>>;

export interface Call {
  /** JavaScript with one `export default`: a value, or a function that is called with `args`. */
  readonly source: string;
  readonly args?: readonly unknown[];
  /** Identifiers that the code may call; what they return is awaited. */
  readonly functions?: HostFunctions;
  /** Default: 64 MiB. Ignored by engines without a limit. */
  readonly memoryBytes?: number;
  /** Milliseconds after which the engine ends the call by its own means. */
  readonly deadlineMs?: number;
}

export interface Outcome {
  readonly status: 'success' | 'error' | 'memory' | 'terminated';
  readonly result?: unknown;
  readonly message?: string;
}

export interface Engine {
  readonly name: EngineName;
  /** Runs a call in a realm that is made for it and destroyed after it. Never rejects. */
  run(call: Call): Promise<Outcome>;
  close(): Promise<void>;
}

export const DEFAULT_MEMORY = 64 * 1024 * 1024;

/** Resolves to `terminated` if the deadline passes first, provided that the event loop turns. */
export async function withDeadline(work: Promise<Outcome>, ms: number | undefined): Promise<Outcome> {
  if (ms === undefined) return work;
  const passed = Promise.withResolvers<Outcome>();
  const timer = setTimeout(() => passed.resolve({ status: 'terminated', message: 'deadline' }), ms);
  return Promise.race([work, passed.promise]).finally(() => clearTimeout(timer));
}
