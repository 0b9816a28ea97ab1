/** Commands fail at once if no server listens, and only then. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { requireListening } from '../../src/cli/connection/find-server.ts';

const LONGER_THAN_A_KNOCK_MS = 1200;

async function listening() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { readonly port: number };
  const address = `127.0.0.1:${port}`;
  const close = () => new Promise((done) => server.close(done));
  return { found: { address, namespace: 'default', connection: { address } }, close };
}

describe('the server used by a command', () => {
  it('is missing at once if nothing listens', async () => {
    const { found, close } = await listening();
    await close();
    await expect(requireListening(found)).rejects.toMatchObject({ code: 'TemporalUnavailable' });
  });

  it('is found even if this process had no time to see the accepted connection', async () => {
    const { found, close } = await listening();
    const required = requireListening(found);
    // Blocks this process, as on a machine where other processes use the processor.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LONGER_THAN_A_KNOCK_MS);
    await required;
    await close();
  });
});
