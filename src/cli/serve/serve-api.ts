/** Serves the HTTP API on a socket of this machine. */

import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { readConfiguration } from '../../configuration.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { errorMessage } from '../../core/value/thrown.ts';
import type { Api } from '../../server/api/create-api.ts';
import { serveSockets } from './serve-sockets.ts';
import { timeoutsFor, trackConnections } from './served-connections.ts';

export interface ServedApi {
  /** `http://host:port`. */
  readonly url: string;
  /** Accepts no new requests, ends streams, and waits for open requests. */
  close(): Promise<void>;
}

export interface ServeOptions {
  readonly host: string;
  /** Port to listen on; 0 for any free one. */
  readonly port: number;
  /** Milliseconds for which a connection without a request stays open; unless given, as configured. */
  readonly keepAliveMs?: number;
}

/** Throws `InvalidConfiguration` if the address cannot be listened on. */
export async function serveApi(
  api: Api,
  { host, port, keepAliveMs = readConfiguration().apiKeepAliveMs }: ServeOptions,
): Promise<ServedApi> {
  // HTTP/1.1, unless another server is asked for.
  const server = createAdaptorServer({
    fetch: (request, { incoming }) => api.fetch(request, { peer: incoming.socket?.remoteAddress }),
    overrideGlobalObjects: false,
  }) as Server;
  Object.assign(server, timeoutsFor(keepAliveMs));
  const closeIdle = trackConnections(server);
  const cutOff = serveSockets(server, api);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => reject(listenError(host, port, cause)));
    server.listen(port, host, resolve);
  });
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${taken}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        api.close();
        cutOff();
        closeIdle();
      }),
  };
}

function listenError(host: string, port: number, cause: NodeJS.ErrnoException): RuntimeError {
  const why =
    cause.code === 'EADDRINUSE'
      ? 'the port is already in use: give another --port'
      : `${errorMessage(cause)}: give another --host or --port`;
  return new RuntimeError('InvalidConfiguration', `The API cannot listen at ${host}:${port}: ${why}.`, {
    cause,
  });
}
