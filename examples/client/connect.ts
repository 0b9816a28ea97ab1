/** A Temporal client, open while `work` runs, as `TEMPORAL_*` and the profile say: the same that the `temporal` CLI reads. */
import { Client, Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';

export async function withClient(work: (client: Client) => Promise<void>): Promise<void> {
  let connection: Connection | undefined;
  try {
    const { connectionOptions, namespace } = loadClientConnectConfig();
    connection = await Connection.connect(connectionOptions);
    await work(new Client({ connection, namespace }));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  } finally {
    await connection?.close();
  }
}

/** The command's arguments; ends the process with a usage message when one is missing. */
export function readArguments(usage: string, count: number): string[] {
  const given = process.argv.slice(2);
  if (given.length >= count) return given;
  console.error(`usage: ${usage}`);
  process.exit(2);
}
