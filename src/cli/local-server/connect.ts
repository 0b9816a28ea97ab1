/** Connecting to a Temporal service for set-up work: short deadlines, and a namespace that can be waited for. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, type ConnectionOptions } from '@temporalio/client';
import { errorMessage, RuntimeError } from '../../core/error.ts';

/** Runs `work` over a connection of its own, which is closed whatever happens. */
export async function withConnection<T>(
  options: ConnectionOptions,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = await Connection.connect({ connectTimeout: 5_000, ...options });
  try {
    return await work(connection);
  } finally {
    await connection.close();
  }
}

/** The version of the service behind a connection; empty when it does not tell. */
export async function readServerVersion(connection: Connection): Promise<string> {
  const { serverVersion } = await connection.withDeadline(Date.now() + 5_000, () =>
    connection.workflowService.getSystemInfo({}),
  );
  return serverVersion ?? '';
}

/** A service may answer before its namespace does: a new one is known to the frontend after a moment. */
export async function waitForNamespace(
  connection: Connection,
  namespace: string,
  deadline: number,
): Promise<void> {
  for (;;) {
    try {
      await connection.withDeadline(deadline, () =>
        connection.workflowService.describeNamespace({ namespace }),
      );
      return;
    } catch (error) {
      if (Date.now() < deadline) {
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
