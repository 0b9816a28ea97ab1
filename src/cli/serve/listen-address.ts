/** The addresses that a command listens at: one way to read them, and one sentence for what cannot be served there. */
import { type AddressInfo, createServer, type Server } from 'node:net';
import { RuntimeError } from '../../core/value/error.ts';
import { errorMessage } from '../../core/value/thrown.ts';

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** What is served there, and the setting that names another address; both for people. */
export interface Purpose {
  readonly what: string;
  readonly setting: string;
}

/** Reads `host:port`; without a host, all addresses of this machine. Throws `InvalidConfiguration`. */
export function readListenAddress(text: string, { what, setting }: Purpose): ListenAddress {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/.exec(text) ?? [];
  if (port !== undefined && Number(port) <= 65_535)
    return { host: bracketed ?? (plain || '0.0.0.0'), port: Number(port) };
  throw new RuntimeError(
    'InvalidConfiguration',
    `"${text}" is not a valid address for ${what}: write host:port, such as 127.0.0.1:9464 (port 0: any free one), in ${setting}.`,
  );
}

/** Throws `InvalidConfiguration` with the address, the reason and the setting. */
export function listenAt(
  server: Server,
  { host, port }: ListenAddress,
  { what, setting }: Purpose,
): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const why = cause.code === 'EADDRINUSE' ? 'the port is already in use' : errorMessage(cause);
      const message = `Cannot serve ${what} at ${host}:${port}: ${why}. Give another ${setting}.`;
      reject(new RuntimeError('InvalidConfiguration', message, { cause }));
    });
    server.listen(port, host, () => resolve(server.address() as AddressInfo));
  });
}

/** Tries an address at which something else will listen; returns its IP address and port. Throws as `listenAt`. */
export async function requireFree(place: ListenAddress, served: Purpose): Promise<AddressInfo> {
  const server = createServer();
  const found = await listenAt(server, place, served);
  await new Promise((resolve) => server.close(resolve));
  return found;
}
