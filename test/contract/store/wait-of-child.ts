/** Waits of descendants that block a thread (wait/shown-wait.ts). */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { Stores } from '../store-contract.ts';
import { call, message, type ThreadDriver } from '../thread-driver.ts';
import { createOpened, openParent, report } from './family-driver.ts';

const statusOf = async (thread: ThreadDriver) => (await thread.store.threads.get(thread.id))?.status;

/** A child whose only call waits for a person. `waits`: the parent's call waits for the child's report. */
async function waitingChild(given: () => Stores, waits = true) {
  const parent = await openParent(given().store);
  const child = await createOpened(parent, { waits });
  await child.answer([message(randomUUID())], { content: null, toolCalls: [call('c0', 'look')] });
  await child.beginTool(1, 0);
  const opened = await parent.store.waits.open({
    id: randomUUID(),
    threadId: child.id,
    key: 'ask:1:0:which',
    kind: 'question',
    name: 'look',
    summary: 'Which one?',
    data: null,
    blocks: true,
    executionId: child.executionId,
    toolCallId: 'c0',
    call: { step: 1, index: 0, attempt: 'attempt-1' },
  });
  if (opened.kind !== 'open') throw new Error(`The wait is not open: ${opened.kind}.`);
  const told = async (thread: ThreadDriver) =>
    [...(await thread.events('wait.opened')), ...(await thread.events('wait.closed'))].map(
      ({ type, data }) => ({ type, data }),
    );
  return { parent, child, wait: opened.wait, waits: parent.store.waits, told };
}

export function registerWaitOfChild(given: () => Stores): void {
  describe('a wait of a child', () => {
    it('is shown once by the parent that waits for the child, until it is answered', async () => {
      const { parent, child, wait, waits, told } = await waitingChild(given);
      expect(await statusOf(parent)).toBe('waiting');
      const { id, kind, name } = wait;
      const shown = [{ id, threadId: child.id, kind, name }];
      expect(await waits.readShown(parent.id)).toEqual(shown);
      expect(await waits.showAbove(child.id)).toEqual([parent.id]);
      expect(await waits.list({ threadId: parent.id })).toEqual([wait]);
      const names = { waitId: id, kind, name, callId: 'c0', threadId: child.id };
      const opened = { type: 'wait.opened', data: { ...names, summary: 'Which one?', expiresAt: null } };
      expect(await told(parent)).toEqual([opened]);

      await waits.answer({ id, answer: { value: 'this one', by: 'Ada' } });
      expect(await statusOf(parent)).toBe('running');
      expect(await waits.readShown(parent.id)).toEqual([]);
      expect(await told(parent)).toEqual([
        opened,
        { type: 'wait.closed', data: { ...names, reason: 'answered', by: 'Ada' } },
      ]);
    });

    it('is unseen by the parent after each change, until its workflow has read it', async () => {
      const { parent, child, wait, waits } = await waitingChild(given);
      const unseen = async (olderThanMs = 0) =>
        (await waits.listUnread(olderThanMs)).filter(({ threadId }) => threadId === parent.id);
      const due = [{ threadId: parent.id, childId: child.id }];
      expect(await unseen()).toEqual(due);
      expect(await unseen(60_000)).toEqual([]);
      await waits.showAbove(child.id);
      expect(await unseen()).toEqual(due);
      await waits.readShown(parent.id);
      await waits.showAbove(child.id);
      expect(await unseen()).toEqual([]);

      await waits.answer({ id: wait.id, answer: { value: 'this one' } });
      expect(await unseen()).toEqual(due);
      await waits.readShown(parent.id);
      expect(await unseen()).toEqual([]);
    });

    it('is not shown by an idle parent', async () => {
      const { parent, wait, waits } = await waitingChild(given);
      await waits.answer({ id: wait.id, answer: { value: 'this one' } });
      await parent.rest('stopped', { reason: 'stopped' });
      const unseen = await waits.listUnread(0);
      expect(unseen.map(({ threadId }) => threadId)).not.toContain(parent.id);
    });

    it('does not block a parent that does not wait for the child', async () => {
      const { parent, child, waits, told } = await waitingChild(given, false);
      expect(await statusOf(parent)).toBe('running');
      expect(await waits.showAbove(child.id)).toEqual([]);
      expect(await told(parent)).toEqual([]);
    });

    it('blocks a parent that starts to wait for the child', async () => {
      const { parent, child, wait, waits } = await waitingChild(given, false);
      await parent.store.children.send({
        parentId: parent.id,
        childId: child.id,
        message: message(randomUUID(), 'and?'),
        call: { step: 1, index: 0 },
        waits: true,
      });
      expect(await waits.readShown(parent.id)).toMatchObject([{ id: wait.id }]);
      expect(await statusOf(parent)).toBe('waiting');
    });

    it('ends for the parent with the report of the child, whose end closed it', async () => {
      const { parent, child, waits, told } = await waitingChild(given);
      await child.rest('failed', { report: report({ kind: 'failure' }) });
      await parent.store.reports.deliver(child.id, child.executionId);
      expect(await statusOf(parent)).toBe('running');
      expect(await waits.readShown(parent.id)).toEqual([]);
      expect(await told(parent)).toMatchObject([{ type: 'wait.opened' }, { data: { reason: 'failed' } }]);
    });

    it('is released if the parent becomes idle while it is open', async () => {
      const { parent, wait, waits, told } = await waitingChild(given);
      await parent.rest('stopped', { reason: 'stopped' });
      expect(await statusOf(parent)).toBe('stopped');
      expect(await told(parent)).toMatchObject([{ type: 'wait.opened' }, { data: { reason: 'released' } }]);
      expect(await waits.list({ threadId: parent.id })).toEqual([wait]);
    });

    it('is shown again by a parent that another run marked as running', async () => {
      const { parent, waits } = await waitingChild(given);
      const next = parent.as('run-2');
      await next.open({ mustExist: true });
      await next.begin();
      expect(await statusOf(parent)).toBe('running');
      expect(await waits.readShown(parent.id)).toHaveLength(1);
      expect(await statusOf(parent)).toBe('waiting');
    });
  });
}
