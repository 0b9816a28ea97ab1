/** Connecting to a Temporal service for set-up work: short deadlines, and a namespace that can be waited for. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, type ConnectionOptions } from '@temporalio/client';
import { errorMessage, RuntimeError } from '../core/error.ts';
import { isUnreachable } from './grpc-status.ts';

/** How long a service may take to be connected to, and then to answer one question. */
export const ANSWER_WITHIN_MS = 5_000;

/** Runs `work` over a connection of its own, which is closed whatever happens. */
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

/** The version of the service behind a connection; empty when it does not tell. */
export async function readServerVersion(connection: Connection): Promise<string> {
  const { serverVersion } = await connection.withDeadline(Date.now() + ANSWER_WITHIN_MS, () =>
    connection.workflowService.getSystemInfo({}),
  );
  return serverVersion ?? '';
}

/**
 * A service may answer before its namespace does: a new one is known to the frontend after a moment. A service that says so
 * for `missingMs` has no such namespace; one that says nothing is asked again for `withinMs`. Only gRPC is told a time of the
 * clock, which may be set in between; what this waits for is measured by one that is not.
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
        `The Temporal service answers, but its namespace "${namespace}" does not: ${errorMessage(error)}.`,
        { cause: error },
      );
    }
  }
}
