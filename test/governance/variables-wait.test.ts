/** Variables that a subagent lacks are a wait: listed, answered and refused like any; it blocks the subagent only. */
import { describe, expect, it } from '@jest/globals';
import { answerWait, answerWaitUpdate } from '../../src/workflows/messages.ts';
import { envoyProject, PASSPORT, reported, waiting } from '../support/envoy-project.ts';
import { eventually, testRuntime } from '../support/runtime.ts';

async function waitingEnvoy(options: Parameters<typeof envoyProject>[0] = {}) {
  const runtime = await testRuntime({ registry: envoyProject(options) });
  const { thread, request } = await waiting(runtime);
  const [wait] = await runtime.client.listWaits({ threadId: thread });
  if (!wait) throw new Error('Nothing waits.');
  const workflow = runtime.client.temporal.workflow.getHandle(`thread/${thread}`);
  return { runtime, client: runtime.client, thread, request, wait, workflow };
}

describe('a wait for variables', () => {
  it('[runtime 7.5] blocks only the subagent, which starts with the answer', async () => {
    const { runtime, client, thread, request, wait } = await waitingEnvoy();
    expect(wait).toMatchObject({ id: request.id, kind: 'variables', name: 'envoy', blocks: false });
    expect(await client.getThread(thread)).toMatchObject({ status: 'idle' });
    const answer = { value: { PASSPORT }, by: 'Ada' };
    expect(await client.answerWait(wait.id, answer)).toEqual({ outcome: 'taken' });
    expect(await client.answerWait(wait.id, answer)).toEqual({ outcome: 'duplicate' });
    const [report] = await reported(runtime, thread);
    expect(report?.content).toContain(`PASSPORT secret ${PASSPORT.length}`);
    expect(await client.listWaits({ threadId: thread })).toEqual([]);
    expect(await client.listVariableRequests(thread)).toEqual([]);
    expect(JSON.stringify(await client.getWait(wait.id))).not.toContain(PASSPORT);
    const { events } = await client.temporal.workflow.getHandle(`thread/${thread}`).fetchHistory();
    expect(JSON.stringify(events)).not.toContain(Buffer.from(PASSPORT).toString('base64').slice(0, 12));
  });

  it('[runtime 7.5] that is denied creates no subagent, and the model reads why', async () => {
    const { runtime, client, thread, wait } = await waitingEnvoy();
    expect(await client.answerWait(wait.id, { approved: false, reason: 'none of theirs' })).toEqual({
      outcome: 'taken',
    });
    const [report] = await reported(runtime, thread);
    expect(report?.content).toContain('the variables that it needs were refused: none of theirs');
    expect(await runtime.store.children.list(thread)).toEqual([]);
    await expect(client.provideVariables(thread, wait.id, { PASSPORT })).rejects.toMatchObject({
      code: 'VariableRequestUsed',
    });
  });

  it('[runtime 7.5] accepts no secret from a signal or an update, and a denial from both', async () => {
    const { runtime, client, thread, wait, workflow } = await waitingEnvoy();
    const { id } = wait;
    const answer = { value: { PASSPORT: 'exposed' } };
    await expect(workflow.executeUpdate(answerWaitUpdate, { args: [{ id, answer }] })).rejects.toThrow();
    await workflow.signal(answerWait, { id, answer });
    await eventually('the refusal', async () =>
      (await runtime.store.events.read(thread, 0, 1000)).some(({ type }) => type === 'item.rejected'),
    );
    expect(await client.getWait(id)).toMatchObject({ state: 'open' });
    await workflow.executeUpdate(answerWaitUpdate, { args: [{ id, answer: { approved: false } }] });
    expect(await reported(runtime, thread)).toHaveLength(1);
  });

  it('[runtime 7.5] accepts declared text variables by an update', async () => {
    const { runtime, thread, wait, workflow } = await waitingEnvoy({
      envoy: { variables: [{ name: 'CITY', type: 'text', required: true, scoped: true }] },
    });
    const answer = { value: { CITY: 'Rome' } };
    expect(await workflow.executeUpdate(answerWaitUpdate, { args: [{ id: wait.id, answer }] })).toEqual({
      outcome: 'taken',
    });
    const [report] = await reported(runtime, thread);
    expect(report?.content).toContain('CITY text 4');
  });
});
