/** Starts processes of clients of a cluster, which may die (client-process.ts). */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { expect } from '@jest/globals';
import type { ClientOrder, DeathPoint } from './client-process.ts';
import type { Cluster } from './fault-cluster.ts';
import { PROGRAM_OPTIONS } from './program-options.ts';

const PROGRAM = fileURLToPath(new URL('client-process.ts', import.meta.url));

export function startClient(
  { address, taskQueue, folder: projectDir }: Cluster,
  asked: Omit<ClientOrder, 'connect'>,
): ChildProcessByStdio<null, Readable, null> {
  const order: ClientOrder = {
    connect: { address, taskQueue, projectDir, store: 'sqlite:store.db' },
    ...asked,
  };
  return spawn(process.execPath, [...PROGRAM_OPTIONS, PROGRAM, JSON.stringify(order)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

export async function dieAt(
  point: DeathPoint,
  cluster: Cluster,
  asked: Pick<ClientOrder, 'threadId' | 'request'>,
): Promise<void> {
  expect(await once(startClient(cluster, { ...asked, point }), 'exit')).toEqual([null, 'SIGKILL']);
}
