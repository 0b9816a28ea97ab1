/**
 * The disk of the Temporal server's own database is full (a small tmpfs), then has space again: nothing that the server
 * acknowledged is lost, and it recovers without a restart.
 */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { watchDatabase } from '../../src/temporal-service/database-watch.ts';
import { type LocalServer, startLocalServer } from '../../src/temporal-service/start-server.ts';
import { eventually } from '../support/eventually.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { canMount, type SmallDisk, smallDisk } from '../support/small-disk.ts';

const onDisk = canMount() ? describe : describe.skip;
const HEALED_WITHIN_MS = 90_000;

let disk: SmallDisk;

beforeEach(() => {
  disk = smallDisk(16 * 1024) as SmallDisk;
});
afterEach(() => disk.close());

function startOnDisk(): Promise<LocalServer> {
  return startLocalServer({
    binary: process.env.EVERTHREAD_TEST_TEMPORAL_CLI as string,
    headless: true,
    dbFile: `${disk.folder}/temporal.db`,
    log: `${disk.folder}/temporal.log`,
  });
}

onDisk('a Temporal server whose disk is full', () => {
  let server: LocalServer;
  let cluster: Cluster;

  beforeEach(async () => {
    server = await startOnDisk();
    cluster = await startCluster({ address: server.address });
    await cluster.keep(1);
  });
  afterEach(async () => {
    await cluster?.close();
    await server?.stop();
  });

  /** Sends messages until the server refuses one; returns those that it accepted. */
  async function sendUntilRefused(thread: string): Promise<string[]> {
    const taken: string[] = [];
    for (let index = 0; ; index++) {
      const content = `message ${index}`;
      try {
        const { client } = cluster;
        const { connection } = client.temporal;
        await connection.withDeadline(Date.now() + 2000, () => client.queueMessage(thread, { content }));
        taken.push(content);
      } catch {
        return taken;
      }
    }
  }

  it('keeps what it acknowledged, acknowledges nothing that is lost, and recovers once there is space', async () => {
    const said: string[] = [];
    const watch = watchDatabase(`${disk.folder}/temporal.db`, (line) => said.push(line));
    const thread = await cluster.start('hello');
    disk.fill();
    const taken = await sendUntilRefused(thread);
    await eventually('the full disk is told', () => said.length === 1);
    expect(said[0]).toMatch(/temporal\.db is full \(StoreFull\).*Free some space/);
    const { pid } = server;

    disk.free();
    await eventually('the room is told', () => said.length === 2);
    watch.close();
    const heard = async () => {
      const { connection } = cluster.client.temporal;
      // One that was taken too late to be answered is the same message when it is sent again.
      const say = () => cluster.client.queueMessage(thread, { id: 'the-last', content: 'the last' });
      return connection.withDeadline(Date.now() + 5000, say).then(
        () => true,
        () => false,
      );
    };
    await eventually('the server takes a message', heard, HEALED_WITHIN_MS);
    await cluster.client.waitForIdle(thread, { timeoutMs: HEALED_WITHIN_MS });
    const transcript = await cluster.transcript(thread);
    for (const content of [...taken, 'the last'])
      expect(transcript.filter((line) => line === `user: ${content}`)).toHaveLength(1);
    expect(server.pid).toBe(pid);
    expect(await cluster.client.getThread(thread)).toMatchObject({ status: 'idle', lastError: null });
  });

  it('keeps what it acknowledged when it is killed while full', async () => {
    const thread = await cluster.start('hello');
    disk.fill();
    const taken = await sendUntilRefused(thread);
    await server.kill();
    disk.free();
    await server.restart();
    await cluster.say(thread, 'the last');
    const transcript = await cluster.transcript(thread);
    for (const content of [...taken, 'the last'])
      expect(transcript.filter((line) => line === `user: ${content}`)).toHaveLength(1);
  });
});

onDisk('a Temporal server whose disk is full from the beginning', () => {
  it('does not start a new database on a full disk, and reports why', async () => {
    disk.fill();
    await expect(startOnDisk()).rejects.toMatchObject({
      code: 'TemporalUnavailable',
      message: expect.stringContaining('is full (StoreFull)'),
    });
  });
});
