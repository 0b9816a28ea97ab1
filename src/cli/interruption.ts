/**
 * Ctrl-C and SIGTERM for commands that run until then.
 * - The first signal is a request: `signal` fires, and the command finishes its work in order.
 * - The second signal forces the end: what was started is killed, and the process ends at once. Before `begin` the
 *   first signal does the same: there is nothing to finish yet.
 */
import { EXIT } from './exit.ts';
import { note } from './output/output.ts';

export interface Interruption {
  /** Fires at the first signal. */
  readonly signal: AbortSignal;
  /** Called at the second signal; must not wait for anything. */
  onForce(end: () => void): void;
  /** Declares that from now on there is work to finish. */
  begin(): void;
  /** Has the effect of the first signal, for a reason within the command. */
  stop(): void;
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

const STOPPING_TEXT = 'Stopping: running work is finished within its grace period, or handed over';

/** `stopping` describes to people what the first signal does. */
export async function withInterruption<T>(
  work: (interruption: Interruption) => Promise<T>,
  stopping = STOPPING_TEXT,
): Promise<T> {
  const first = new AbortController();
  const enders: (() => void)[] = [];
  let begun = false;
  const force = (): never => {
    for (const end of enders) end();
    process.exit(EXIT.interrupted);
  };
  const onSignal = () => {
    if (first.signal.aborted || !begun) force();
    note(`\n${stopping} (once more to exit at once) …`);
    first.abort();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  try {
    return await work({
      signal: first.signal,
      onForce: (end) => void enders.push(end),
      begin: () => {
        begun = true;
      },
      stop: () => first.abort(),
    });
  } finally {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  }
}
