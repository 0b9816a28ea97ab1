/** A local TCP proxy between a client and a server that cuts connections. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { closeAfterTest } from './runtime.ts';

export interface CuttingProxy {
  readonly url: string;
  /** How many connections it has cut. */
  readonly cuts: number;
  /**
   * From now on, cuts the connection after the given number of bytes has reached clients; repeats that for each number.
   */
  cut(...bytes: number[]): void;
}

export async function cuttingProxy(target: string): Promise<CuttingProxy> {
  const { hostname, port } = new URL(target);
  let plan: number[] = [];
  let cuts = 0;
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    const end = () => {
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on('error', end);
      socket.on('close', () => {
        open.delete(socket);
        end();
      });
    }
    near.on('data', (data) => far.write(data));
    far.on('data', (data) => {
      const [left] = plan;
      if (left === undefined) return near.write(data);
      if (data.length < left) {
        plan[0] = left - data.length;
        return near.write(data);
      }
      plan.shift();
      cuts += 1;
      far.destroy();
      return near.write(data.subarray(0, left), () => near.destroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closeAfterTest(async () => {
    for (const socket of open) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get cuts() {
      return cuts;
    },
    cut(...bytes) {
      plan = bytes;
    },
  };
}
