/**
 * The process that supersedes a tail, and the worker that answers again, are killed: the same request again leaves one tail and
 * one answer, and no call of the superseded part is run again.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { dieAt } from '../support/dying-client.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';

describe('a tail that is superseded', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster();
    await cluster.keep(1);
  });
  afterAll(() => cluster?.close());

  const edited = (requestId: string, messageId: string) =>
    ({ requestId, messageId, message: { content: 'hello' } }) as const;
  const OLD = [
    'user: use write 1',
    'assistant:  -> write',
    'tool write success: wrote 1',
    'assistant: Answered "use write 1" after 1 tool results.',
  ];
  const NEW = ['user: hello', 'assistant: Answered "hello" after 0 tool results.'];

  async function told(): Promise<{ threadId: string; messageId: string }> {
    const threadId = await cluster.begin('use write 1');
    await cluster.client.waitForIdle(threadId);
    expect(await cluster.transcript(threadId)).toEqual(OLD);
    const [first] = (await cluster.client.getMessages(threadId)).messages;
    return { threadId, messageId: first?.id ?? '' };
  }

  async function expectOne(threadId: string, count: number): Promise<void> {
    await cluster.client.waitForIdle(threadId);
    expect(await cluster.transcript(threadId)).toEqual(NEW);
    const events = await cluster.store.events.read(threadId, 0);
    expect(events.filter(({ type }) => type === 'messages.superseded')).toHaveLength(1);
    expect(events.filter(({ type }) => type === 'execution.started')).toHaveLength(count);
    expect(cluster.ledger(threadId)).toEqual(['1']);
    expect((await cluster.client.getMessages(threadId, { superseded: true })).total).toBe(4);
  }

  it.each(['in', 'behind'] as const)(
    'has one answer if its process dies %s the transaction',
    async (point) => {
      const { threadId, messageId } = await told();
      const request = edited('r1', messageId);
      await dieAt(point, cluster, { threadId, request: { supersede: request } });
      // Nothing, or all of it.
      const [first, ...rest] = await cluster.transcript(threadId);
      if (point === 'in') expect([first, ...rest]).toEqual(OLD);
      else expect(first).toMatch(/user: hello/);
      await cluster.client.supersede(threadId, request);
      await expectOne(threadId, 2);
      await cluster.client.supersede(threadId, request);
      await expectOne(threadId, 2);
    },
    120_000,
  );

  it('has one answer if the worker dies before it is stored', async () => {
    const { threadId, messageId } = await told();
    cluster.orderDeath('model_answered');
    const request = edited('r1', messageId);
    await cluster.client.supersede(threadId, request);
    await cluster.died('model_answered');
    await cluster.client.supersede(threadId, request);
    await cluster.keep(1);
    await expectOne(threadId, 2);
  }, 120_000);
});
