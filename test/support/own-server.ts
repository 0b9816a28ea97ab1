/** A Temporal server for one test file: one that may be killed, or with settings of its own. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { type LocalServer, startLocalServer } from '../../src/cli/local-server/start-server.ts';

/**
 * Keeps its database in a file. A lost workflow task is given up after two seconds in place of ten, so that tests that
 * kill a worker inside one need not wait.
 */
export function startOwnServer(): Promise<LocalServer> {
  return startLocalServer({
    binary: process.env.EVERTHREAD_TEST_TEMPORAL_CLI as string,
    headless: true,
    dbFile: join(process.env.EVERTHREAD_TEST_FOLDER as string, `temporal-${randomUUID()}.db`),
    extraDynamicConfig: {
      'history.workflowIdReuseMinimalInterval': '0s',
      'history.defaultWorkflowTaskTimeout': '2s',
    },
  });
}
