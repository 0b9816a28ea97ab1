/** Ports on the loopback address: finding free ones, and detecting whether one is taken. */
import { connect, createServer } from 'node:net';

export const LOOPBACK = '127.0.0.1';

/**
 * Below the ranges that systems use for outgoing connections (Linux from 32768, others from 49152). In those ranges a client that
 * keeps connecting to a stopped server of ours can be assigned the server's own port, and then occupies it when the server restarts.
 */
const [LOWEST_PORT, HIGHEST_PORT] = [20_000, 32_000];

export async function findFreePorts(count: number): Promise<number[]> {
  const found = new Set<number>();
  while (found.size < count) {
    const port = LOWEST_PORT + Math.floor(Math.random() * (HIGHEST_PORT - LOWEST_PORT));
    if (await isPortFree(port)) found.add(port);
  }
  return [...found];
}

export async function isPortFree(port: number): Promise<boolean> {
  const server = await listen(port).catch(() => undefined);
  if (!server) return false;
  await new Promise((done) => server.close(done));
  return true;
}

/** Whether something accepts connections there. */
export async function isListening(host: string, port: number): Promise<boolean> {
  return (await tryConnect(host, port)) === 'accepted';
}

/** True only if nothing listens there: a program that is too busy to accept does not count as absent. */
export async function refusesConnections(host: string, port: number): Promise<boolean> {
  return (await tryConnect(host, port)) === 'ECONNREFUSED';
}

/** Tries to connect: returns `accepted`, `timeout`, or the code of the error. */
function tryConnect(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 1_000 });
    const answer = (result: string | undefined) => {
      socket.destroy();
      resolve(result);
    };
    socket.on('connect', () => answer('accepted'));
    socket.on('timeout', () => answer('timeout'));
    socket.on('error', ({ code }: NodeJS.ErrnoException) => answer(code));
  });
}

function listen(port: number): Promise<ReturnType<typeof createServer>> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(port, LOOPBACK, () => resolve(server));
  });
}
