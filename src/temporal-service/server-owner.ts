/**
 * Records which project a server on this machine was started for. The record is in the server's namespace: any process
 * that finds the server by its port can read it there.
 */
import { realpathSync } from 'node:fs';
import type { Connection, ConnectionOptions } from '@temporalio/client';
import { ANSWER_WITHIN_MS, withConnection } from './connect.ts';

const PROJECT = 'everthread.project';

/** Overwrites an earlier owner: the database file may come from another folder. */
export async function markOwner(
  connection: Connection,
  namespace: string,
  projectDir: string,
): Promise<void> {
  const data = { [PROJECT]: realpathSync(projectDir) };
  await connection.withDeadline(Date.now() + ANSWER_WITHIN_MS, () =>
    connection.workflowService.updateNamespace({ namespace, updateInfo: { data } }),
  );
}

/** Folder of the other project that owns the server. Undefined if this project does, or if the owner is unknown. */
export async function findOtherOwner(
  service: ConnectionOptions,
  namespace: string,
  projectDir: string,
): Promise<string | undefined> {
  try {
    return await withConnection(service, async (connection) => {
      const { namespaceInfo } = await connection.withDeadline(Date.now() + ANSWER_WITHIN_MS, () =>
        connection.workflowService.describeNamespace({ namespace }),
      );
      const owner = namespaceInfo?.data?.[PROJECT];
      return owner === realpathSync(projectDir) ? undefined : owner;
    });
  } catch {
    // Not reported here: the next use of the server fails with the reason.
    return undefined;
  }
}
