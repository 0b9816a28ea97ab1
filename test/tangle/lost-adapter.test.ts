/** Tasks whose adapter was handed over by a process that is then lost: they are continued under their id, or end. */
import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { TaskStep } from '../../src/core/author/task.ts';
import {
  type GivenAdapter,
  type RunAgentTaskOptions,
  runAgentTask,
  runAgentTaskStream,
  TaskAlreadyRunningError,
  type TaskDecision,
} from '../../src/faces/tangle/tasks.ts';
import { openBeside } from '../support/database-beside.ts';
import { connectPatiently } from '../support/patient-client.ts';
import { createDatabase } from '../support/postgres.ts';
import { PROGRAM_OPTIONS } from '../support/program-options.ts';
import { closeAfterTest, eventually } from '../support/runtime.ts';

const workflowBundle = process.env.EVERTHREAD_TEST_BUNDLE as string;
const PROGRAM = join(import.meta.dirname, '..', 'support', 'adapter-process.ts');

/** Ends with the code of the act before it. */
const stop = (history: readonly TaskStep[]): TaskDecision<unknown> => ({
  ...{ kind: 'stop', pass: true, reason: 'over' },
  outcome: { unknown: history.at(-1)?.actionOutcome?.code },
});

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

/** Resolves once the adapter of the process acts, with the id of its task. */
async function startProcess(...given: readonly string[]) {
  const child = fork(PROGRAM, given, { execArgv: [...PROGRAM_OPTIONS] });
  closeAfterTest(async () => void child.kill('SIGKILL'));
  const [{ id }] = (await once(child, 'message')) as [{ readonly id: string }];
  return { child, id };
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

describe('a task without an id of its caller, whose adapter runs in a client process', () => {
  it.each(['sqlite', 'postgres'] as const)(
    '[TG-20] fails with ProducerLost for every reader once its process is killed, and its workflow ends (%s)',
    async (engine) => {
      const { store, client, db } = await reader(engine);
      const { child, id } = await startProcess(store);
      const threadId = `task/${id}`;
      expect(await db.selectFrom('producers').selectAll().execute()).toHaveLength(1);
      const following = (async () => {
        const told = [];
        for await (const { event } of client.tasks.events(id)) told.push(event);
        return told;
      })();
      await kill(child);
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
      // Whoever starts the next one ends its workflow.
      const next = { store, workflowBundle, task: { intent: 'go' }, adapter: adapter(acted) };
      expect(await runAgentTask(next)).toMatchObject({ status: 'completed' });
      expect(acted).toEqual(['go']);
      const handle = client.temporal.workflow.getHandle(threadId);
      expect((await handle.describe()).status.name).toBe('TERMINATED');
    },
    120_000,
  );

  it('fails when its owner leaves the stream, and its readers need not wait for that', async () => {
    const { store, client } = await reader('sqlite');
    const hanging = { ...(adapter([]) as object), act: () => new Promise(() => undefined) } as never;
    let id = '';
    for await (const event of runAgentTaskStream({
      ...{ store, workflowBundle, adapter: hanging, task: { intent: 'hang' } },
      settings: { configuration: { toolGraceMs: 0 } },
    })) {
      if (event.type === 'task_start') id = event.task.id;
      if (event.type === 'control_acting') break;
    }
    expect(await client.tasks.get(id)).toMatchObject({ status: 'failed', verdict: { code: 'ProducerLost' } });
    await eventually(
      'its workflow is over',
      async () =>
        (await client.temporal.workflow.getHandle(`task/${id}`).describe()).status.name === 'TERMINATED',
    );
  }, 120_000);
});

describe('a task with an id, whose adapter runs in a client process', () => {
  it('[TG-20] is continued by the next process that passes an adapter for it, however late, and its act is not repeated', async () => {
    const { store, client, db } = await reader('sqlite');
    const id = randomUUID();
    const { child } = await startProcess(store, id);
    await kill(child);
    // Nothing of it can expire.
    expect(await db.selectFrom('producers').selectAll().execute()).toEqual([]);
    expect(await client.tasks.get(id)).toMatchObject({ status: 'running' });
    const acted: unknown[] = [];
    const continued = {
      ...{ store, workflowBundle, task: { id, intent: 'hang' } },
      adapter: {
        ...(adapter(acted) as GivenAdapter),
        decide: ({ history }) => stop(history),
      } as GivenAdapter,
    };
    const done = { status: 'completed', control: { outcome: { unknown: 'ActOutcomeUnknown' } } };
    expect(await runAgentTask(continued)).toMatchObject(done);
    expect(await runAgentTask(continued)).toMatchObject(done);
    expect(acted).toEqual([]);
  }, 120_000);

  it('[TG-18] refuses other content under its id, and a second adapter in its process', async () => {
    const { store } = await reader('sqlite');
    const id = randomUUID();
    const acts = Promise.withResolvers<void>();
    const ends = Promise.withResolvers<void>();
    const slow: GivenAdapter = {
      ...(adapter([]) as GivenAdapter),
      decide: ({ history }) =>
        history.length > 0 ? { kind: 'stop', pass: true, reason: 'over' } : { kind: 'act', action: 'go' },
      async act() {
        acts.resolve();
        await ends.promise;
      },
    };
    const options = { store, workflowBundle, task: { id, intent: 'wait' }, adapter: slow };
    const running = runAgentTask(options);
    await acts.promise;
    const twice = await runAgentTask(options).catch((error) => error);
    expect(twice).toBeInstanceOf(TaskAlreadyRunningError);
    expect(twice).toMatchObject({ code: 'ExecutionRunning', message: expect.stringContaining(id) });
    ends.resolve();
    expect(await running).toMatchObject({ status: 'completed' });
    const other = { ...options, task: { id, intent: 'another' } };
    await expect(runAgentTask(other)).rejects.toMatchObject({ code: 'ExecutionConflict' });
    expect(await runAgentTask(options)).toMatchObject({ status: 'completed' });
  }, 120_000);
});
