/** What is stored besides a task's loop: backend sessions, its manifest, its place below a thread, its adapter. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { CreateChild } from '../../../src/store/family/family-record.ts';
import type { Stores } from '../store-contract.ts';
import { create, openParent } from './family-driver.ts';

const newTask = (id: string, name = 'count') => ({
  ...{ name, scenarioId: null, requirements: [], preflight: 'over' as const },
  spec: { id, intent: 'count', inputs: { to: 3 } },
});
const manifestDocument = { id: 'triage', hash: 'of it' } as never;

export function registerTaskKept(given: () => Stores): void {
  const tasks = () => given().store.tasks;
  const dataOf = async (threadId: string, kind: string) =>
    (await given().store.events.read(threadId, 0)).flatMap(({ type, data }) => (type === kind ? [data] : []));

  async function openTask(
    owner: { userId?: string; organizationId?: string } = {},
    id: string = randomUUID(),
  ) {
    const run = { threadId: `task/${id}`, runId: `run-${id}` };
    const start = { ...newTask(id), userId: null, organizationId: null, ...owner };
    const open = { ...run, mustExist: false, manifest: null, start };
    expect(await tasks().open(open)).toMatchObject({ kind: 'open' });
    return { id, run, threadId: run.threadId };
  }

  describe('a backend session', () => {
    it('[TG-11] belongs to its organisation, else its user, else nobody; a repeated write updates it', async () => {
      const [organizationId, userId] = [randomUUID(), randomUUID()];
      const ours = await openTask({ organizationId, userId });
      const colleague = await openTask({ organizationId, userId: randomUUID() });
      const own = await openTask({ userId });
      const nobodys = await openTask();
      const id = randomUUID();
      const session = { id, backend: 'box', status: 'active', resumeToken: 't-1' } as const;
      const put = await tasks().putSession({ ...session, threadId: ours.threadId });
      expect(put).toMatchObject(session);
      expect(await tasks().putSession({ ...session, threadId: ours.threadId })).toMatchObject({
        createdAt: put.createdAt,
      });
      expect(await given().second.tasks.getSession(colleague.threadId, id)).toMatchObject(session);
      for (const { threadId } of [own, nobodys]) expect(await tasks().getSession(threadId, id)).toBeNull();
      // A session of another owner with the same id is a separate session.
      await tasks().putSession({ ...session, threadId: own.threadId, status: 'failed', resumeToken: null });
      expect(await tasks().getSession(own.threadId, id)).toMatchObject({
        status: 'failed',
        resumeToken: null,
      });
      expect(await tasks().getSession(ours.threadId, id)).toMatchObject({ status: 'active' });
    });

    it('is refused without an id, with too long an id, and for an unknown task', async () => {
      const { threadId } = await openTask();
      const session = { backend: 'box', status: 'active', resumeToken: null, threadId } as const;
      for (const id of ['', 'x'.repeat(201)])
        await expect(tasks().putSession({ ...session, id })).rejects.toMatchObject({ code: 'InvalidValue' });
      await expect(tasks().getSession('task/nobody', 'x')).rejects.toMatchObject({ code: 'ThreadNotFound' });
    });
  });

  describe('the manifest of a task', () => {
    it('is reported once if a newer build has another; a replaced run records nothing', async () => {
      const { id, run, threadId } = await openTask();
      await tasks().noteManifest({ ...run, manifest: 'a' });
      await tasks().noteManifest({ ...run, manifest: 'a' });
      await tasks().noteManifest({ ...run, manifest: null });
      expect(await dataOf(threadId, 'task.manifest')).toEqual([
        { from: null, to: 'a' },
        { from: 'a', to: null },
      ]);
      await tasks().open({ ...run, runId: 'later', mustExist: true, manifest: null });
      await expect(tasks().noteManifest({ ...run, manifest: 'b' })).rejects.toThrow(/replaced/);
      expect(await tasks().get(id)).toMatchObject({ manifest: null });
    });

    it('is stored by its hash, and found by an unambiguous prefix', async () => {
      const [one, other] = ['1', '2'].map((last) => `${randomUUID().replaceAll('-', '')}${last}`);
      const twins = ['a', 'b'].map((last) => `${'9'.repeat(40)}${last}`);
      for (const hash of [one, other, one, ...twins] as string[])
        await tasks().saveManifest(hash, manifestDocument);
      expect(await tasks().getManifest((one as string).slice(0, 12))).toEqual({
        hash: one,
        document: manifestDocument,
      });
      for (const hash of ['9'.repeat(20), 'abc', '%%%%%%%%', randomUUID().replaceAll('-', '')])
        expect(await tasks().getManifest(hash)).toBeNull();
    });
  });

  describe('a task started by a thread', () => {
    it('is created once with its call, below its parent; its one report is stored with its end', async () => {
      const { store, second } = given();
      const parent = await openParent(store);
      const id = randomUUID();
      const threadId = `task/${id}`;
      const asked = {
        child: { threadId, agent: 'count', resumable: false, messages: [] },
        task: { begins: newTask(id), manifest: 'a' },
        waits: true,
      } satisfies Partial<Omit<CreateChild, 'child'>> & { child: object };
      const made = await Promise.all([
        create(parent, asked),
        create({ ...parent, store: second } as never, asked),
      ]);
      expect(made).toMatchObject([
        { kind: 'created', child: { threadId } },
        { kind: 'created', child: { threadId } },
      ]);
      expect(await parent.events('subagent.created')).toHaveLength(1);
      expect(await dataOf(threadId, 'task.created')).toMatchObject([{ taskId: id, name: 'count' }]);
      const run = { threadId, runId: 'run-1' };
      expect(await tasks().open({ ...run, mustExist: true, manifest: 'a' })).toMatchObject({
        kind: 'open',
        rootId: parent.id,
        task: { parentId: parent.id, manifest: 'a', spec: { inputs: { to: 3 } } },
      });
      expect(await store.reports.listDue(threadId)).toEqual([]);
      const verdict = { stoppedBy: 'policy', pass: true, reason: 'counted', outcome: { n: 3 } } as const;
      for (let n = 0; n < 2; n++) await tasks().end({ ...run, verdict, records: null, errors: [] });
      const [report, ...others] = await store.reports.listDue(threadId);
      expect(report).toMatchObject({ kind: 'result', child: { parentId: parent.id } });
      expect(others).toEqual([]);
      await store.reports.deliver(threadId, report?.id ?? '');
      expect(await store.reports.listDue(threadId)).toEqual([]);
      const told = await parent.events('subagent.returned');
      expect(told).toHaveLength(1);
    });
  });

  describe('an adapter bound to a process', () => {
    const claimOf = (threadId: string, holder = 'queue-1', presenceMs = 60_000) => ({
      ...{ threadId, executionId: threadId, holder, presenceMs },
    });

    it('belongs to one queue; its presence is renewed in one write, and ends with its task', async () => {
      const { store, second } = given();
      const queue = randomUUID();
      const { run, threadId } = await openTask();
      const other = await openTask();
      expect(await store.producers.claim(claimOf(threadId, queue))).toBe(true);
      expect(await second.producers.claim(claimOf(threadId, queue, -1))).toBe(true);
      expect(await second.producers.claim(claimOf(threadId, 'another'))).toBe(false);
      expect(await store.producers.claim(claimOf(other.threadId, queue, -1))).toBe(true);
      expect(await store.producers.renewAll({ holder: queue, presenceMs: 60_000 })).toBe(2);
      await store.producers.closeLost();
      for (const each of [threadId, other.threadId])
        expect(await store.producers.find(each, each)).toMatchObject({ state: 'open', overdue: false });
      const verdict = { stoppedBy: 'policy', pass: true, reason: 'done' } as const;
      await tasks().end({ ...run, verdict, records: null, errors: [] });
      expect(await store.producers.find(threadId, threadId)).toMatchObject({ state: 'ended' });
      expect(await store.producers.renewAll({ holder: queue, presenceMs: 1 })).toBe(1);
      expect(await second.producers.claim(claimOf(threadId, 'another'))).toBe(false);
    });

    it('[TG-20] fails its task once when it is lost; its workflow is listed until it is handled', async () => {
      const { store, second } = given();
      const { id, run, threadId } = await openTask();
      const wait = { id: randomUUID(), threadId, key: 'ask:0', kind: 'question', name: 'count' } as const;
      await store.waits.open({ ...wait, summary: 'Which?', data: null, blocks: true });
      await store.producers.claim(claimOf(threadId, 'queue-1', -1));
      await Promise.all([store.producers.closeLost(), second.producers.closeLost()]);
      expect(await tasks().get(id)).toMatchObject({
        ...{ status: 'failed', endedAt: expect.any(Number) },
        verdict: { stoppedBy: 'runtime-error', pass: false, code: 'ProducerLost' },
      });
      expect(await dataOf(threadId, 'task.ended')).toMatchObject([
        { status: 'failed', code: 'ProducerLost' },
      ]);
      expect(await store.waits.list({ threadId })).toEqual([]);
      expect(await store.producers.listLostTasks()).toContain(threadId);
      await store.producers.forgetLostTask(threadId);
      expect(await store.producers.listLostTasks()).not.toContain(threadId);
      // The adapter's process comes back: it gets no presence, and no other process can take the task over.
      expect(await store.producers.renewAll({ holder: 'queue-1', presenceMs: 1 })).toBe(0);
      expect(
        await tasks().saveObservation({
          ...run,
          step: 0,
          state: '1',
          fingerprint: 'f',
          evals: [],
          score: null,
        }),
      ).toMatchObject({ kind: 'terminated' });
      expect(await second.producers.claim(claimOf(threadId, 'queue-2'))).toBe(false);
    });
  });
}
