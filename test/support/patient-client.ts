/** A client for tests: unless a test sets its own timeout, it waits for rest as long as a busy machine may need. */
import { RuntimeClient } from '../../src/client/runtime-client.ts';

const REST_MS = 120_000;

export async function connectPatiently(
  options: Parameters<typeof RuntimeClient.connect>[0],
): Promise<RuntimeClient> {
  const client = await RuntimeClient.connect(options);
  const waitForIdle = client.waitForIdle.bind(client);
  client.waitForIdle = (threadId, wait) => waitForIdle(threadId, { timeoutMs: REST_MS, ...wait });
  return client;
}
