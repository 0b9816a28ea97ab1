/**
 * The HTTP API in a separate process, for tests that kill it: `node api-process.ts STORE QUEUE PORT`. It sends its port
 * to its parent.
 */
import { serveApi } from '../../src/cli/serve/serve-api.ts';
import { RuntimeClient } from '../../src/client/runtime-client.ts';
import { createApi } from '../../src/server/api/create-api.ts';

const AGENTS = [{ name: 'helper', title: 'Helper', description: null }];
const [store, taskQueue, port] = process.argv.slice(2);
// Exits when its parent does: no process may outlive its test.
process.on('disconnect', () => process.exit(1));
const client = await RuntimeClient.connect({ store, taskQueue });
const served = await serveApi(createApi({ client, agents: () => AGENTS }), {
  host: '127.0.0.1',
  port: Number(port),
});
process.send?.(Number(new URL(served.url).port));
