/**
 * A parent continues as new, or is killed, while a child works for it; and variables are provided while no worker can
 * start the child (runtime §7, §8): each report is delivered once, and nothing waits for ever.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { generateKey } from '../../src/store/crypto/encryption.ts';
import { eventually } from '../support/eventually.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { release } from '../support/fault-project.ts';
import { readRuns } from '../support/run-chain.ts';

const SOFT_LIMIT = 60;
const MESSAGES = 40;

let cluster: Cluster;

beforeAll(async () => {
  process.env.EVERTHREAD_ENCRYPTION_KEYS = generateKey('test');
  cluster = await startCluster({ configuration: { historySoftLimit: SOFT_LIMIT } });
  await cluster.keep(2);
});
afterAll(async () => {
  delete process.env.EVERTHREAD_ENCRYPTION_KEYS;
  await cluster?.close();
});

async function countEvents(thread: string, type: string): Promise<number> {
  const events = await cluster.store.events.read(thread, 0, 1_000_000);
  return events.filter((event) => event.type === type).length;
}

async function workingChild(thread: string): Promise<string> {
  return eventually('a child that works', async () => {
    const [child] = await cluster.store.children.list(thread);
    return child && (await countEvents(child.threadId, 'tool.started')) > 0 ? child.threadId : undefined;
  });
}

describe('a parent waiting for a child’s result', () => {
  it('[runtime 8] continues as new during the call, and gets its result once', async () => {
    const thread = await cluster.begin('delegate wait 1');
    const child = await workingChild(thread);
    for (let n = 0; n < MESSAGES; n++) await cluster.client.queueMessage(thread, { content: `hello ${n}` });
    await eventually('the next run', async () => (await readRuns(cluster.client, thread)).length > 1);
    const killed = await cluster.begin('delegate wait 2');
    const orphan = await workingChild(killed);
    // Terminate in the Web UI ends the run without the store's knowledge.
    await cluster.client.temporal.workflow.getHandle(`thread/${killed}`).terminate('by an operator');
    release(cluster.folder);
    // A report revives a parent whose run was killed.
    for (const [parent, line] of [
      [thread, 'wait 1'],
      [killed, 'wait 2'],
    ] as const) {
      await eventually('the report', async () => (await countEvents(parent, 'subagent.returned')) === 1);
      await cluster.client.waitForIdle(parent);
      const lines = await cluster.transcript(parent);
      expect(lines.filter((text) => text.startsWith('tool aide'))).toEqual([
        `tool aide success: done ${line}`,
      ]);
      expect(lines.filter((text) => text.includes('-> aide'))).toHaveLength(1);
      expect(await countEvents(parent, 'subagent.created')).toBe(1);
    }
    expect(cluster.ledger(child)).toEqual(['wait 1', 'wait 1']);
    expect(cluster.ledger(orphan)).toEqual(['wait 2', 'wait 2']);
    const heard = (await cluster.transcript(thread)).filter((line) => line.startsWith('user: hello'));
    expect(heard).toEqual(Array.from({ length: MESSAGES }, (_, n) => `user: hello ${n}`));
  });
});

describe('variables provided later', () => {
  const values = { PASSPORT: 'grenelle-73' };

  async function waitingRequest(): Promise<{ thread: string; request: string }> {
    const thread = await cluster.begin('empower 1');
    await cluster.client.waitForIdle(thread);
    const [request] = await cluster.store.variableRequests.list(thread);
    return { thread, request: request?.id ?? '' };
  }

  async function expectOneChild(thread: string): Promise<void> {
    await eventually('the report', async () => (await countEvents(thread, 'subagent.returned')) === 1);
    await cluster.client.waitForIdle(thread);
    const children = await cluster.store.children.list(thread);
    expect(children).toHaveLength(1);
    expect(cluster.ledger(children[0]?.threadId ?? '')).toEqual(['1']);
    const reports = (await cluster.transcript(thread)).filter((line) => line.startsWith('user: Subagent ('));
    expect(reports).toHaveLength(1);
  }

  it('[runtime 7.5] while every worker is dead start the child once a worker runs', async () => {
    const { thread, request } = await waitingRequest();
    await Promise.all(cluster.workers.map((worker) => worker.end('SIGKILL')));
    await cluster.client.provideVariables(thread, request, values);
    await cluster.keep(1);
    await expectOneChild(thread);
  });

  it('[runtime 7.5] by a client that dies before it signals start the child when they are provided again', async () => {
    const { thread, request } = await waitingRequest();
    // The first half of provideVariables, as if the client's process were lost then.
    const given = Object.entries(values).map(([name, value]) => ({ name, value }));
    const fulfilled = await cluster.store.variableRequests.fulfil({
      parentId: thread,
      requestId: request,
      given,
    });
    expect(fulfilled.kind).toBe('created');
    await expect(cluster.client.provideVariables(thread, request, values)).rejects.toMatchObject({
      code: 'VariableRequestUsed',
    });
    await expectOneChild(thread);
  });
});
