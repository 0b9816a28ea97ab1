/** The log of a worker in a program that has not configured Temporal's runtime; our commands install their own. */
import { DefaultLogger, type LogEntry, type LogLevel, Runtime } from '@temporalio/worker';
import { readLog } from '../configuration.ts';
import { configuredEnvironment } from '../secret-environment.ts';

/**
 * Installs a logger that writes warnings and errors to standard error, or what `EVERTHREAD_LOG` says. A runtime that
 * was installed before stays. Throws `InvalidConfiguration` for a level that does not exist.
 */
export function installDefaultLog(): void {
  const { level, format } = readLog(configuredEnvironment(), 'warn');
  const native = level === 'trace' ? 'TRACE' : level === 'error' ? 'ERROR' : 'WARN';
  const named = level.toUpperCase() as LogLevel;
  try {
    Runtime.install({
      logger: format === 'json' ? new DefaultLogger(named, writeJson) : new DefaultLogger(named),
      telemetryOptions: { logging: { filter: { core: native, other: 'ERROR' }, forward: {} } },
    });
  } catch {
    // The process has one already.
  }
}

function writeJson({ level, timestampNanos, message, meta }: LogEntry): void {
  const time = new Date(Number(timestampNanos / 1_000_000n)).toISOString();
  process.stderr.write(`${JSON.stringify({ ...meta, time, level: level.toLowerCase(), message })}\n`);
}
