/** A network between a client and a server that is slower than the local one: a proxy that delays answers. */
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

export interface SlowNetwork {
  /** The server's address, through the proxy. */
  readonly address: string;
  close(): Promise<void>;
}

/**
 * `roundTripMs`: milliseconds added to each round trip. Answers stay in order; their number in transit is unlimited.
 */
export async function slowNetwork(server: string, roundTripMs: number): Promise<SlowNetwork> {
  const url = new URL(server);
  const [host, port] = [url.hostname, Number(url.port || 5432)];
  const sockets = new Set<Socket>();
  const proxy = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ host, port, noDelay: true });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    }
    client.on('close', () => upstream.destroy()).pipe(upstream);
    let before = Promise.resolve();
    upstream.on('data', (bytes) => {
      const due = Promise.all([before, delay(roundTripMs)]);
      before = due.then(() => void client.write(bytes));
    });
    upstream.on('close', () => void before.then(() => client.destroy()));
  });
  await new Promise<void>((listening) => proxy.listen(0, '127.0.0.1', listening));
  url.hostname = '127.0.0.1';
  url.port = String((proxy.address() as { port: number }).port);
  return {
    address: url.href,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => proxy.close(closed));
    },
  };
}
