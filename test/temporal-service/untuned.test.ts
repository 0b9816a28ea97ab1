/** Our settings that a server lacks are reported by a worker at its start and by the doctor, in the same words. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Connection } from '@temporalio/client';
import { type LocalServer, startLocalServer } from '../../src/temporal-service/start-server.ts';
import { findUntunedSettings } from '../../src/temporal-service/tuning.ts';
import { type CliProject, cliProject, HELPER, seen } from '../cli/support.ts';
import { eventually } from '../support/eventually.ts';

const FORGETFUL = 'forgetful';

let server: LocalServer;
let project: CliProject;
let connection: Connection;

/** The server is as fast as ours, and lacks the only setting that servers report. */
beforeAll(async () => {
  server = await startLocalServer({
    binary: process.env.EVERTHREAD_TEST_TEMPORAL_CLI as string,
    headless: true,
    dbFile: join(process.env.EVERTHREAD_TEST_FOLDER as string, `temporal-${randomUUID()}.db`),
    extraDynamicConfig: { 'frontend.enableCancelWorkerPollsOnShutdown': false },
  });
  connection = await Connection.connect({ address: server.address });
  await connection.workflowService.registerNamespace({
    namespace: FORGETFUL,
    workflowExecutionRetentionPeriod: { seconds: 3600 as unknown as Long },
  });
  project = await cliProject(HELPER);
});
afterAll(async () => {
  await project?.remove();
  await connection?.close();
  await server?.stop();
});

type Long = NonNullable<
  NonNullable<
    Parameters<Connection['workflowService']['registerNamespace']>[0]['workflowExecutionRetentionPeriod']
  >['seconds']
>;

it('a server without our dynamic config, and a namespace with a retention of hours, are detected', async () => {
  // The frontend learns of a new namespace after a moment.
  await eventually('the namespace', () =>
    findUntunedSettings(connection, FORGETFUL).then(
      () => true,
      () => false,
    ),
  );
  expect((await findUntunedSettings(connection, FORGETFUL)).map(({ name }) => name)).toEqual([
    'retention',
    'dynamic config',
  ]);
});

it('a server with our settings lacks nothing', async () => {
  const own = await Connection.connect({ address: process.env.TEMPORAL_ADDRESS as string });
  try {
    expect(await findUntunedSettings(own, process.env.TEMPORAL_NAMESPACE ?? 'default')).toEqual([]);
  } finally {
    await own.close();
  }
});

it('a worker warns of it at its start, and the doctor with the same text', async () => {
  const env = { TEMPORAL_ADDRESS: server.address, TEMPORAL_NAMESPACE: undefined };
  const { checks } = JSON.parse((await project.run(['doctor', '--json'], { env })).stdout) as {
    checks: { name: string; status: string; message: string; next?: string }[];
  };
  const told = checks.find(({ name }) => name === 'dynamic config');
  expect(told).toMatchObject({
    status: 'warn',
    message: expect.stringContaining('temporal/dynamic-config.yaml'),
  });
  const worker = project.start(['worker', '--json'], env);
  await seen(worker, '"event":"ready"');
  expect(worker.stderr()).toContain(`dynamic config: ${told?.message}. ${told?.next}`);
});
