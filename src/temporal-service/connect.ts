/** Connecting to a Temporal service for set-up: short deadlines, and waiting for its namespace. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, type ConnectionOptions } from '@temporalio/client';
import { errorMessage, RuntimeError } from '../core/value/error.ts';
import { isUnreachable, statusCode } from './grpc-status.ts';

/** Milliseconds for connecting, and then for each answer. */
export const ANSWER_WITHIN_MS = 5_000;

const NOT_FOUND = 5;

/** Runs `work` over a separate connection, which is always closed. */
export async function withConnection<T>(
  options: ConnectionOptions,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = await Connection.connect({ connectTimeout: ANSWER_WITHIN_MS, ...options });
  try {
    return await work(connection);
  } finally {
    await connection.close();
  }
}

/** The version of the service behind a connection; empty when it reports none. */
export async function readServerVersion(
  connection: Pick<Connection, 'workflowService' | 'withDeadline'>,
): Promise<string> {
  const { serverVersion } = await connection.withDeadline(Date.now() + ANSWER_WITHIN_MS, () =>
    connection.workflowService.getSystemInfo({}),
  );
  return serverVersion ?? '';
}

/**
 * A service may respond before its namespace does: the frontend learns of a new one after a moment. A service that
 * reports for `missingMs` that the namespace is missing does not have it; one that does not respond is retried for
 * `withinMs`. Durations are measured with a monotonic clock; only gRPC's deadline is a time of the adjustable system
 * clock.
 */
export async function waitForNamespace(
  connection: Connection,
  namespace: string,
  withinMs: number,
  missingMs = Number.POSITIVE_INFINITY,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  let missingSince: number | undefined;
  for (;;) {
    const now = performance.now();
    try {
      await connection.withDeadline(Date.now() + Math.min(deadline - now, ANSWER_WITHIN_MS), () =>
        connection.workflowService.describeNamespace({ namespace }),
      );
      return;
    } catch (error) {
      if (!isUnreachable(error)) missingSince ??= now;
      const until = isUnreachable(error) ? deadline : Math.min(deadline, (missingSince ?? now) + missingMs);
      if (performance.now() < until) {
        await sleep(50);
        continue;
      }
      throw new RuntimeError(
        'TemporalUnavailable',
        statusCode(error) === NOT_FOUND
          ? `it has no namespace "${namespace}": set TEMPORAL_NAMESPACE, or create it (temporal operator namespace create -n ${namespace})`
          : `The Temporal service answers, but its namespace "${namespace}" does not: ${errorMessage(error)}.`,
        { cause: error },
      );
    }
  }
}
