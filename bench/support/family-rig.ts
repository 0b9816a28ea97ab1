/** One server, one store, one worker in this process, for families of threads; and the contents of their histories. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import proto from '@temporalio/proto';
import { NativeConnection } from '@temporalio/worker';
import { RuntimeClient } from '../../src/client/runtime-client.ts';
import type { Registry } from '../../src/core/author/registry.ts';
import { WORKFLOW_ID_PREFIX } from '../../src/core/thread/start-input.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { ThreadStore } from '../../src/store/store.ts';
import { createWorker } from '../../src/worker/index.ts';
import { forgetSettings, startServer } from './rig.ts';

const { HistoryEvent } = proto.temporal.api.history.v1;

export interface FamilyHistory {
  readonly threads: number;
  readonly events: number;
  readonly bytes: number;
}

export interface FamilyRig {
  readonly client: RuntimeClient;
  readonly store: ThreadStore;
  /** Starts a thread with a message; resolves to its id. */
  begin(agent: string, content: string): Promise<string>;
  /** Counts the histories of a thread and all its descendants. */
  countHistory(root: string): Promise<FamilyHistory>;
  /** Terminates a thread and all its descendants. */
  end(root: string): Promise<void>;
  close(): Promise<void>;
}

export async function openFamilyRig(registry: Registry, metricsPort?: number): Promise<FamilyRig> {
  forgetSettings();
  const folder = mkdtempSync(join(tmpdir(), 'everthread-bench-'));
  const store = await openStore('sqlite:store.db', folder);
  const server = await startServer('file', folder, metricsPort);
  const connection = await NativeConnection.connect({ address: server.address });
  const worker = await createWorker({ projectDir: folder, registry, store, connection, taskQueue: 'bench' });
  const running = worker.run();
  const client = await RuntimeClient.connect({ address: server.address, store, taskQueue: 'bench' });
  return {
    client,
    store,
    async begin(agent, content) {
      return (await client.startThread({ agent, messages: [{ content }] })).threadId;
    },
    async countHistory(root) {
      const members = await store.family.read(root);
      const histories = await Promise.all(members.map(({ thread }) => fetchEvents(client, thread.id)));
      const events = histories.flat();
      const bytes = events.reduce((sum, event) => sum + HistoryEvent.encode(event).finish().length, 0);
      return { threads: members.length, events: events.length, bytes };
    },
    async end(root) {
      await client.terminate(root);
      await client.waitForIdle(root);
    },
    async close() {
      await client.close();
      worker.shutdown();
      await running;
      await connection.close();
      await store.close();
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function fetchEvents({ temporal }: RuntimeClient, threadId: string) {
  const { events } = await temporal.workflow.getHandle(WORKFLOW_ID_PREFIX + threadId).fetchHistory();
  return events ?? [];
}
