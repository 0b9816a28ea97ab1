/** Temporal's Runtime of this process, which can be installed only once, and what its workers warned of. */
import { Runtime } from '@temporalio/worker';

export interface Logged {
  readonly level: 'WARN' | 'ERROR';
  readonly message: string;
  readonly fields: Readonly<Record<string | symbol, unknown>>;
}

/** What workers of this process warned of since the test began. */
export const logged: Logged[] = [];

const record =
  (level: Logged['level']) =>
  (message: string, fields: Logged['fields'] = {}) => {
    logged.push({ level, message, fields });
  };

Runtime.install({
  shutdownSignals: [],
  // Tests end threads while a worker is at them, and the core of the SDK warns of each on stderr.
  telemetryOptions: { logging: { filter: { core: 'ERROR', other: 'ERROR' } } },
  logger: { log() {}, trace() {}, debug() {}, info() {}, warn: record('WARN'), error: record('ERROR') },
});
