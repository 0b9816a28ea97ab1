/** Workers are killed around an answer that does not fit its type: it is rejected once, and the thread ends with one value. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import type { DeathPoint } from '../support/fault-project.ts';

const POINTS: readonly DeathPoint[] = [
  'model_streaming',
  'model_answered',
  'output_checked',
  'output_rejected',
  'output_rejection_stored',
  'model_committed',
];
const LINE = { type: 'object', properties: { line: { type: 'string' } }, required: ['line'] };

describe.each([
  ['the side of the agent', 'typist', {}],
  ['the message', 'helper', { output: LINE }],
])('a worker process killed with SIGKILL, under the type of %s', (_whose, agent, typed) => {
  let cluster: Cluster;
  let thread: string;
  const outputs: unknown[] = [];

  beforeAll(async () => {
    cluster = await startCluster();
    await cluster.keep(1);
    ({ threadId: thread } = await cluster.client.startThread({
      agent,
      messages: [{ content: 'draft 0', ...typed }],
    }));
    await cluster.client.waitForIdle(thread);
    for (const point of POINTS) {
      cluster.orderDeath(point);
      await cluster.client.queueMessage(thread, { content: `draft 1 ${point}`, ...typed });
      await cluster.died(point);
      await cluster.keep(1);
      outputs.push((await cluster.client.waitForIdle(thread)).output);
    }
  }, 240_000);
  afterAll(() => cluster?.close());

  it('leaves one value and one answer for each message', async () => {
    expect(outputs).toEqual(POINTS.map((point) => ({ line: `draft 1 ${point}` })));
    const { messages } = await cluster.client.getMessages(thread, { limit: 100 });
    expect(messages.map(({ role }) => role)).toEqual(
      ['draft 0', ...POINTS].flatMap(() => ['user', 'assistant']),
    );
  });

  it('rejects each draft once, as the first of its execution', async () => {
    const events = await cluster.store.events.read(thread, 0, 100_000);
    expect(eventsOf(events, 'output.rejected').map(({ data }) => [data.text, data.count])).toEqual(
      POINTS.map(() => ['Draft 1, not JSON yet.', 1]),
    );
    expect(eventsOf(events, 'step.committed')).toHaveLength(POINTS.length + 1);
  });

  it('does not let an execution ask more than twice again', async () => {
    cluster.orderDeath('output_rejection_stored');
    await cluster.client.queueMessage(thread, { content: 'draft 9', ...typed });
    await cluster.died('output_rejection_stored');
    await cluster.keep(1);
    const { status, lastError } = await cluster.client.waitForIdle(thread);
    expect([status, lastError?.code]).toEqual(['failed', 'OutputInvalid']);
    const events = await cluster.store.events.read(thread, 0, 100_000);
    expect(
      eventsOf(events, 'output.rejected')
        .slice(-3)
        .map(({ data }) => data.count),
    ).toEqual([1, 2, 3]);
  });
});
