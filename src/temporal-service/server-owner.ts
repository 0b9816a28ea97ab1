/**
 * The project that a server on this machine was started for. It stands in the server's namespace: whoever finds the server by its port finds it
 * there, whatever the two know of each other.
 */
import { realpathSync } from 'node:fs';
import type { Connection, ConnectionOptions } from '@temporalio/client';
import { ANSWER_WITHIN_MS, withConnection } from './connect.ts';

const PROJECT = 'everthread.project';

/** Also where the database file has come from another folder. */
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

/** The folder of another project, whose server this is; undefined for everything else, and where it does not say. */
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
    // Whoever goes on to use it is told what is wrong with it.
    return undefined;
  }
}
