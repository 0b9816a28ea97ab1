/** What a deleted thread leaves on the Temporal server: nothing, whatever runs it had, and however the deletion was cut. */
import { describe, expect, it } from '@jest/globals';
import type { Client } from '@temporalio/client';
import { deleteThread } from '../../src/client/delete-thread.ts';
import { isWorkflowGone } from '../../src/client/workflow-error.ts';
import { workflowIdOf } from '../../src/core/thread/start-options.ts';
import { calls, says } from '../../src/testing/index.ts';
import { childProject, handsIn, hasResult, modelOf } from '../support/child-project.ts';
import { readRuns } from '../support/run-chain.ts';
import { eventually, type TestRuntime, testRuntime } from '../support/runtime.ts';

const SIGNALS = 60;

async function familyRuntime(): Promise<TestRuntime> {
  const model = modelOf({
    main: (request) => (hasResult(request) ? says('thanks') : calls('scribe')),
    scribe_desk: () => handsIn('written'),
  });
  const registry = childProject({
    model,
    entries: [{ name: 'scribe', blocking: true }],
    children: { scribe: {} },
  });
  return testRuntime({ model, registry, fresh: true, configuration: { historySoftLimit: 50 } });
}

/** A thread with a child, that has continued as new twice and was killed and revived in between. */
async function longThread(runtime: TestRuntime): Promise<{ thread: string; runs: readonly string[] }> {
  const { client } = runtime;
  const thread = await runtime.start('go');
  const handle = client.temporal.workflow.getHandle(workflowIdOf(thread));
  const found = new Set<string>();
  for (let times = 1; times <= 2; times++) {
    const before = (await handle.describe()).runId;
    found.add(before);
    for (let n = 0; n < SIGNALS; n++) await handle.signal('wakeForEffects', { inMs: 3_600_000 });
    await eventually('the next run', async () => (await handle.describe()).runId !== before);
    found.add((await handle.describe()).runId);
    if (times === 1) {
      await handle.terminate('by an operator');
      await client.wake(thread);
      await client.waitForIdle(thread);
    }
  }
  for (const { runId } of await readRuns(client, thread)) found.add(runId);
  return { thread, runs: [...found] };
}

/** A client whose process ends when it asks for a deletion for the given time. */
function cut(temporal: Client, at: number, fail: () => Error): Client {
  let asked = 0;
  const { workflowService } = temporal;
  const cutService = new Proxy(workflowService, {
    get(service, name) {
      if (name !== 'deleteWorkflowExecution') return Reflect.get(service, name);
      return (request: Parameters<typeof service.deleteWorkflowExecution>[0]) => {
        asked += 1;
        if (asked >= at) throw fail();
        return service.deleteWorkflowExecution(request);
      };
    },
  });
  return Object.create(temporal, { workflowService: { value: cutService } }) as Client;
}

async function isGone(client: Client, workflowId: string, runId?: string): Promise<boolean> {
  return client.workflow
    .getHandle(workflowId, runId)
    .fetchHistory()
    .then(() => false, isWorkflowGone);
}

describe('the histories of a deleted thread', () => {
  it('are deleted for every run, also after the deletion was interrupted', async () => {
    const runtime = await familyRuntime();
    const { client, store } = runtime;
    const { thread, runs } = await longThread(runtime);
    const [child] = await store.children.list(thread);
    const childId = child?.threadId ?? '';
    expect(runs.length).toBeGreaterThanOrEqual(4);
    // The first request is for the child's history; the third for the second run of the parent.
    const dies = () => new Error('the process has ended');
    const cutOff = deleteThread({
      store,
      temporal: cut(client.temporal, 3, dies),
      threadId: thread,
      terminate: () => client.terminate(thread),
    });
    await expect(cutOff).rejects.toThrow('the process has ended');
    expect(await isGone(client.temporal, workflowIdOf(thread), runs.at(-1))).toBe(false);
    // Histories go before rows: what is not deleted can still be found.
    expect(await store.threads.get(thread)).toMatchObject({ agent: 'helper' });
    expect(await client.deleteThread(thread)).toEqual({ deleted: [thread, childId], remaining: [] });
    for (const runId of [undefined, ...runs])
      expect([runId, await isGone(client.temporal, workflowIdOf(thread), runId)]).toEqual([runId, true]);
    expect(await isGone(client.temporal, workflowIdOf(childId))).toBe(true);
    await expect(client.getThread(thread)).rejects.toMatchObject({ code: 'ThreadNotFound' });
  });

  it('are reported with the end of their retention if the server refuses to delete them', async () => {
    const runtime = await familyRuntime();
    const { client, store } = runtime;
    const thread = await runtime.start('go');
    await client.terminate(thread);
    const workflowId = workflowIdOf(thread);
    const handle = client.temporal.workflow.getHandle(workflowId);
    const ended = await eventually('the end of the run', async () => (await handle.describe()).closeTime);
    const refuses = () => Object.assign(new Error('7 PERMISSION_DENIED'), { code: 7 });
    const { remaining } = await deleteThread({
      store,
      temporal: cut(client.temporal, 1, refuses),
      threadId: thread,
      terminate: async () => undefined,
    });
    const { runId } = await handle.describe();
    const { config } = await client.temporal.workflowService.describeNamespace({ namespace: 'default' });
    const retentionMs = Number(config?.workflowExecutionRetentionTtl?.seconds) * 1000;
    expect(remaining).toContainEqual({ workflowId, runId, until: ended.getTime() + retentionMs });
    expect(await store.threads.get(thread)).toMatchObject({ deletedAt: expect.any(Number) });
  });
});
