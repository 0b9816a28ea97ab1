/**
 * What every runtime is measured with: the decision of the model double, and the one effect, both behind each runtime's
 * ordinary port. The ledger is the only witness: what a runtime says of itself counts for nothing.
 * Lines of the ledger: `e THREAD N AT` an effect, on the disk before the tool returns; `d THREAD AT` the model's last
 * answer; `h THREAD AT` the model hangs, as ordered; `a THREAD AT` its request was aborted.
 */
import { type FileHandle, open } from 'node:fs/promises';

/** The message that begins a turn: `go STEPS THREAD`, or `hang 0 THREAD`. */
export const say = (verb: 'go' | 'hang', steps: number, thread: string) => `${verb} ${steps} ${thread}`;

export interface Call {
  readonly thread: string;
  readonly n: number;
}

export type Decision =
  | { readonly kind: 'call'; readonly call: Call }
  | { readonly kind: 'done' | 'hang'; readonly thread: string };

/** Decides from the request alone, so that it does not matter which process answers. */
export function decide(message: string, results: number): Decision {
  const [, verb, steps, thread = ''] = /(go|hang) (\d+) ([\w-]+)/.exec(message) ?? [];
  if (verb === undefined) throw new Error(`The double does not know what to do with "${message}".`);
  if (verb === 'hang') return { kind: 'hang', thread };
  if (results >= Number(steps)) return { kind: 'done', thread };
  return { kind: 'call', call: { thread, n: results } };
}

let file: FileHandle | undefined;

export async function openLedger(path: string): Promise<void> {
  file = await open(path, 'a');
}

/** Milliseconds since 1970, to a tenth. */
const now = () => (performance.timeOrigin + performance.now()).toFixed(1);

/** The tool. */
export async function effect({ thread, n }: Call): Promise<string> {
  await file?.appendFile(`e ${thread} ${n} ${now()}\n`);
  await file?.sync();
  return 'done';
}

export async function note(what: 'd' | 'h' | 'a', thread: string): Promise<void> {
  await file?.appendFile(`${what} ${thread} ${now()}\n`);
}

/** Never answers; rejects once the request is aborted. */
export async function hang(thread: string, signal: AbortSignal | undefined): Promise<never> {
  await note('h', thread);
  await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true }));
  await note('a', thread);
  throw signal?.reason ?? new Error('aborted');
}
