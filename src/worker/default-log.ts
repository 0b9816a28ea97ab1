/** The log of a worker in a program that has not configured Temporal's runtime; our commands install their own. */
import { DefaultLogger, type LogEntry, type LogLevel, Runtime } from '@temporalio/worker';
import { readLog } from '../configuration.ts';
import { configuredEnvironment } from '../secret-environment.ts';

/**
 * Set once the process has had a runtime, which the SDK does not declare. It ends a runtime with its last worker, and
 * makes it anew, with the same options, for the next one.
 */
const known = Runtime as unknown as { readonly instantiator?: string };

/**
 * Installs a logger that writes warnings and errors to standard error, or what `EVERTHREAD_LOG` says. A runtime that
 * was installed before stays, also for workers after its end. Throws `InvalidConfiguration` for a level that does not
 * exist.
 */
export function installDefaultLog(): void {
  const { level, format } = readLog(configuredEnvironment(), 'warn');
  if (known.instantiator !== undefined) return;
  const native = level === 'trace' ? 'TRACE' : level === 'error' ? 'ERROR' : 'WARN';
  const named = level.toUpperCase() as LogLevel;
  Runtime.install({
    logger: format === 'json' ? new DefaultLogger(named, writeJson) : new DefaultLogger(named),
    telemetryOptions: { logging: { filter: { core: native, other: 'ERROR' }, forward: {} } },
  });
}

function writeJson({ level, timestampNanos, message, meta }: LogEntry): void {
  const time = new Date(Number(timestampNanos / 1_000_000n)).toISOString();
  process.stderr.write(`${JSON.stringify({ ...meta, time, level: level.toLowerCase(), message })}\n`);
}
