/**
 * A host of the bench that runs one hostile program with one engine, as an embedder would, and reports the outcome
 * if it survives: `node hostile-child.ts ENGINE PROGRAM`, started by hostile.ts.
 */
import type { Engine, EngineName, Outcome } from './engine.ts';
import { HOSTILE, type Hostile } from './hostile-programs.ts';
import { loadEngine } from './load-engine.ts';

export const HOSTILE_MEMORY = 32 * 1024 * 1024;
export const HOSTILE_DEADLINE_MS = 200;

export type FromHost =
  | { readonly kind: 'ready' }
  /** `stallMs`: the longest time for which the host's event loop was blocked. `harm`: what the program achieved. */
  | {
      readonly kind: 'settled';
      readonly outcome: Outcome;
      readonly ms: number;
      readonly stallMs: number;
      readonly harm: string | undefined;
    }
  /** `served`: true if the engine still serves calls. */
  | { readonly kind: 'after'; readonly served: boolean };

/** Messages to this host, in this order. */
export type ToHost = 'begin' | 'again';

const [, main, engineName, programName] = process.argv;
const program = HOSTILE.find(({ name }) => name === programName);
if (main === import.meta.filename && program) {
  process.once('disconnect', () => process.exit());
  await serve(await (await loadEngine(engineName as EngineName))(), program);
}

async function serve(engine: Engine, hostile: Hostile): Promise<void> {
  for (let i = 0; i < 3; i++) await engine.run({ source: 'export default 42' });
  const begin = told('begin');
  say({ kind: 'ready' });
  await begin;
  const again = told('again');
  const stall = watchStall();
  const startedAt = performance.now();
  const { result, ...outcome } = await engine.run({
    source: hostile.source,
    ...(hostile.args ? { args: hostile.args } : {}),
    functions: { same: async (value: unknown) => value },
    memoryBytes: HOSTILE_MEMORY,
    deadlineMs: hostile.deadlineMs ?? HOSTILE_DEADLINE_MS,
  });
  const ms = performance.now() - startedAt;
  say({
    kind: 'settled',
    outcome: { ...outcome, message: outcome.message?.slice(0, 300) },
    ms,
    stallMs: stall(),
    harm: outcome.status === 'success' ? findHarm(result) : undefined,
  });
  await again;
  const { result: answer } = await engine.run({ source: 'export default 42', deadlineMs: 2000 });
  say({ kind: 'after', served: answer === 42 });
}

function findHarm(result: unknown): string | undefined {
  if (result === process.pid) return "the host's process";
  const polluted = [Object, Array, Function, Promise].filter(({ prototype }) => 'polluted' in prototype);
  if (polluted.length > 0) return `${polluted.map(({ name }) => name).join(', ')}.prototype of the host`;
  // Reading a character makes the string flat: before that, V8 may hold only a few pointers.
  if (typeof result === 'string' && result.charCodeAt(result.length - 1) > 0) return `${result.length} bytes`;
  return typeof result === 'number' && result > 0 ? `${result} of 3 ways` : undefined;
}

function told(what: ToHost): Promise<void> {
  return new Promise((resolve) => {
    process.on('message', (message) => {
      if (message === what) resolve();
    });
  });
}

function say(message: FromHost): void {
  process.send?.(message);
}

function watchStall(): () => number {
  const every = 5;
  let [last, longest] = [performance.now(), 0];
  const look = () => {
    longest = Math.max(longest, performance.now() - last - every);
    last = performance.now();
  };
  const timer = setInterval(look, every);
  return () => {
    clearInterval(timer);
    look();
    return Math.max(0, longest);
  };
}
