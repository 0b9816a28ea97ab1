/**
 * Starts one PostgreSQL per run, when the first suite requests it. Requests go over HTTP to the process of the global
 * set-up, so the server has one owner that stops it, however many processes Jest uses.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres.ts';

export interface PostgresStarter {
  /** A GET returns the server's address as text. */
  readonly url: string;
  stop(): Promise<void>;
}

export async function awaitPostgresRequest(): Promise<PostgresStarter> {
  let started: Promise<EmbeddedPostgres> | undefined;
  const server = createServer((_request, response) => {
    // Data of tests need not survive a crash, so nothing is synced to disk.
    started ??= startEmbeddedPostgres({ fsync: 'off' });
    started.then(
      ({ address }) => response.end(address),
      (error) => response.writeHead(500).end(String(error)),
    );
  });
  server.listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.close();
      await (await started?.catch(() => undefined))?.stop();
    },
  };
}
