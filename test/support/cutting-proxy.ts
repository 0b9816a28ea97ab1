/** A local TCP proxy between a client and a server that cuts connections. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { closeAfterTest } from './runtime.ts';
import type { Random } from './seeded-random.ts';

export interface CuttingProxy {
  readonly url: string;
  /** How many connections it has cut. */
  readonly cuts: number;
  /**
   * From now on, cuts the connection after the given number of bytes has reached clients; repeats that for each number.
   */
  cut(...bytes: number[]): void;
  /** From now on, `cut` concerns only responses to requests with this text in them. */
  aim(request: string): void;
  /** From now on, delays each piece that a server sends, and cuts the connection within some of them, at any byte. */
  disturb(how: Disturbance | null): void;
}

export interface Disturbance {
  readonly delayMs: number;
  /** Share of the pieces that are cut. */
  readonly share: number;
  readonly random: Random;
}

export async function cuttingProxy(target: string): Promise<CuttingProxy> {
  const { hostname, port } = new URL(target);
  let plan: number[] = [];
  let cuts = 0;
  let aim = '';
  let disturbance: Disturbance | null = null;
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    const end = () => {
      near.destroy();
      far.destroy();
    };
    let isCut = false;
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on('error', end);
      socket.on('close', () => {
        open.delete(socket);
        // What is still under way to the client arrives.
        if (socket === far && isCut) return;
        if (socket === far && disturbance) setTimeout(() => near.end(), disturbance.delayMs);
        else end();
      });
    }
    let isAimedAt = true;
    near.on('data', (data) => {
      isAimedAt = data.includes(aim);
      far.write(data);
    });
    const cutWithin = (data: Buffer, left: number) => {
      cuts += 1;
      isCut = true;
      far.destroy();
      near.write(data.subarray(0, left), () => near.destroy());
    };
    const pass = (data: Buffer) => {
      const [left] = plan;
      if (left === undefined || !isAimedAt) return near.write(data);
      if (data.length < left) {
        plan[0] = left - data.length;
        return near.write(data);
      }
      plan.shift();
      return cutWithin(data, left);
    };
    far.on('data', (data: Buffer) => {
      if (disturbance === null) return pass(data);
      const { delayMs, share, random } = disturbance;
      const left = random.chance(share) ? random.below(data.length) : null;
      // Timers of one delay fire in their order.
      return setTimeout(() => {
        if (near.destroyed) return;
        if (left === null) near.write(data);
        else cutWithin(data, left);
      }, delayMs);
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
    aim(request) {
      aim = request;
    },
    disturb(how) {
      disturbance = how;
    },
  };
}
