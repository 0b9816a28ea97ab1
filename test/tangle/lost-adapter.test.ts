/** Tasks whose adapter was handed over by a process that is then lost: they end for every reader. */
import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { type RunAgentTaskOptions, runAgentTask, runAgentTaskStream } from '../../src/faces/tangle/tasks.ts';
import { openBeside } from '../support/database-beside.ts';
import { connectPatiently } from '../support/patient-client.ts';
import { createDatabase } from '../support/postgres.ts';
import { PROGRAM_OPTIONS } from '../support/program-options.ts';
import { closeAfterTest, eventually } from '../support/runtime.ts';

const workflowBundle = process.env.EVERTHREAD_TEST_BUNDLE as string;
const PROGRAM = join(import.meta.dirname, '..', 'support', 'adapter-process.ts');

const ADDRESSES = {
  async sqlite() {
    return `sqlite:${join(process.env.EVERTHREAD_TEST_FOLDER as string, randomUUID())}.db?synchronous=normal`;
  },
  async postgres() {
    const database = await createDatabase();
    closeAfterTest(() => database.drop());
    return database.address;
  },
};

/** A client on a store that no worker serves, and that store. */
async function reader(engine: keyof typeof ADDRESSES) {
  const store = await ADDRESSES[engine]();
  const address = process.env.TEMPORAL_ADDRESS as string;
  const client = await connectPatiently({ address, store, taskQueue: `nobody-${randomUUID()}` });
  closeAfterTest(() => client.close());
  const db = openBeside(store);
  closeAfterTest(() => db.destroy());
  return { store, client, db };
}

const adapter = (acted: unknown[]): NonNullable<RunAgentTaskOptions['adapter']> => ({
  observe: () => acted.length,
  validate: ({ state }) => [{ id: 'acted', passed: (state as number) > 0 }],
  decide: () => ({ kind: 'act', action: 'go' }),
  act: (action) => void acted.push(action),
});

describe('a task whose adapter runs in a client process', () => {
  it.each(['sqlite', 'postgres'] as const)(
    '[TG-20] fails with ProducerLost for every reader once its process is killed; no process resumes it, and its workflow ends (%s)',
    async (engine) => {
      const { store, client, db } = await reader(engine);
      const id = randomUUID();
      const threadId = `task/${id}`;
      const child = fork(PROGRAM, [store, id], { execArgv: [...PROGRAM_OPTIONS] });
      closeAfterTest(async () => void child.kill('SIGKILL'));
      await once(child, 'message');
      const present = async () => {
        const rows = await db.selectFrom('producers').select('present_until').execute();
        return rows.map(({ present_until: until }) => Number(until));
      };
      expect(await present()).toHaveLength(1);
      const following = (async () => {
        const told = [];
        for await (const { event } of client.tasks.events(id)) told.push(event);
        return told;
      })();
      child.kill('SIGKILL');
      await once(child, 'exit');
      expect(await client.tasks.get(id)).toMatchObject({ status: 'running' });
      // Simulates that the process's presence has expired.
      await db.updateTable('producers').set({ present_until: 0 }).execute();
      const told = await following;
      const lost = { status: 'failed', code: 'ProducerLost' };
      expect(told.slice(-3)).toMatchObject([
        { type: 'control_end', stoppedBy: 'runtime-error', code: 'ProducerLost' },
        { type: 'task_end', status: 'failed' },
        { type: 'final', ...lost, reason: expect.stringContaining(id) },
      ]);
      expect(await client.tasks.get(id)).toMatchObject({
        status: 'failed',
        verdict: { code: 'ProducerLost' },
      });
      const log = await client.store.events.read(threadId, 0);
      expect(log.filter(({ type }) => type === 'task.ended')).toMatchObject([{ data: lost }]);
      const acted: unknown[] = [];
      const again = { store, workflowBundle, task: { id, intent: 'hang' }, adapter: adapter(acted) };
      expect(await runAgentTask(again)).toMatchObject({
        status: 'failed',
        control: { code: 'ProducerLost' },
      });
      expect(acted).toEqual([]);
      const handle = client.temporal.workflow.getHandle(threadId);
      expect((await handle.describe()).status.name).toBe('TERMINATED');
    },
    120_000,
  );

  it('is run by another process if its own was lost before anything was stored', async () => {
    const { store, client } = await reader('sqlite');
    const id = randomUUID();
    const task = { id, intent: 'go' };
    const claim = { threadId: `task/${id}`, holder: 'gone', presenceMs: -1 };
    expect(await client.store.producers.claimTask(claim)).toBe(true);
    // Starts the task on a queue that no worker serves.
    await client.tasks.start({ ...task, task: 'handed_over' });
    const acted: unknown[] = [];
    expect(await runAgentTask({ store, workflowBundle, task, adapter: adapter(acted) })).toMatchObject({
      status: 'completed',
    });
    expect(acted).toEqual(['go']);
    expect(await client.store.producers.find(claim.threadId, claim.threadId)).toMatchObject({
      state: 'ended',
    });
  }, 120_000);

  it('fails when its owner leaves the stream, and its readers need not wait for that', async () => {
    const { store, client } = await reader('sqlite');
    const id = randomUUID();
    const hanging = { ...(adapter([]) as object), act: () => new Promise(() => undefined) } as never;
    for await (const event of runAgentTaskStream({
      ...{ store, workflowBundle, adapter: hanging, task: { id, intent: 'hang' } },
      settings: { configuration: { toolGraceMs: 0 } },
    }))
      if (event.type === 'control_acting') break;
    expect(await client.tasks.get(id)).toMatchObject({ status: 'failed', verdict: { code: 'ProducerLost' } });
    await eventually(
      'its workflow is over',
      async () =>
        (await client.temporal.workflow.getHandle(`task/${id}`).describe()).status.name === 'TERMINATED',
    );
  }, 120_000);
});
