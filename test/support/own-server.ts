/** A Temporal server for one test file; it may be killed, because it keeps its database in a file. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { type LocalServer, startLocalServer } from '../../src/temporal-service/start-server.ts';

export function startOwnServer(): Promise<LocalServer> {
  return startLocalServer({
    binary: process.env.EVERTHREAD_TEST_TEMPORAL_CLI as string,
    headless: true,
    dbFile: join(process.env.EVERTHREAD_TEST_FOLDER as string, `temporal-${randomUUID()}.db`),
    extraDynamicConfig: { 'history.workflowIdReuseMinimalInterval': '0s' },
  });
}
