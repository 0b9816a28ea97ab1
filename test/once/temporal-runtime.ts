/** Installs Temporal's Runtime, which is possible only once per process, and collects the warnings of its workers. */
import { Runtime } from '@temporalio/worker';

export interface Logged {
  readonly level: 'WARN' | 'ERROR';
  readonly message: string;
  readonly fields: Readonly<Record<string | symbol, unknown>>;
}

/** Warnings and errors that workers of this process have logged since the test began. */
export const logged: Logged[] = [];

const record =
  (level: Logged['level']) =>
  (message: string, fields: Logged['fields'] = {}) => {
    logged.push({ level, message, fields });
  };

Runtime.install({
  shutdownSignals: [],
  // Tests terminate threads while a worker runs them; the SDK's core would log a warning to stderr for each.
  telemetryOptions: { logging: { filter: { core: 'ERROR', other: 'ERROR' } } },
  logger: { log() {}, trace() {}, debug() {}, info() {}, warn: record('WARN'), error: record('ERROR') },
});
