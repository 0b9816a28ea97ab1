/**
 * The worker is lost while the last call of a step has gone on into the next one, within one activity: the call has its result by then,
 * and is never run again; the step that was begun goes on elsewhere.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import { hangs, type RecordedRequest } from '../../src/testing/index.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { type DeathPoint, faultScript, release } from '../support/fault-project.ts';
import { eventually } from '../support/runtime.ts';

/** Where the worker dies. Its death is ordered as the step behind the call asks its model. */
const PLACES: readonly [tool: string, point: DeathPoint][] = [
  ['write', 'model_answered'],
  ['write', 'model_committed'],
  ['set', 'model_committed'],
];

const TO_GO = 'use write 1, until told to go';

let cluster: Cluster;
let isToHang = false;

const saidBy = ({ messages }: RecordedRequest) =>
  String(messages.find(({ role }) => role === 'user')?.content);
const contentOf = (tool: string, point: DeathPoint) => `use ${tool} 1, and die at ${point}`;

beforeAll(async () => {
  const script = faultScript();
  const ordered = new Set<string>();
  cluster = await startCluster({
    script: (request, index) => {
      const content = saidBy(request);
      const results = request.messages.filter(({ role }) => role === 'tool').length;
      for (const [tool, point] of PLACES)
        if (content === contentOf(tool, point) && results === 1 && !ordered.has(content)) {
          ordered.add(content);
          cluster.orderDeath(point);
        }
      if (content !== TO_GO || results === 0 || !isToHang) return script(request, index);
      isToHang = false;
      return hangs({ after: 'Answered' });
    },
    configuration: { modelGraceMs: 0 },
  });
});
afterAll(() => cluster?.close());

/** The thread's activities in order, as its history names them. */
async function activitiesOf(threadId: string): Promise<string[]> {
  const { events } = await cluster.client.temporal.workflow.getHandle(`thread/${threadId}`).fetchHistory();
  return (events ?? []).flatMap(
    (event) => event.activityTaskScheduledEventAttributes?.activityType?.name ?? [],
  );
}

async function beginToStream(): Promise<string> {
  const thread = await cluster.begin(TO_GO);
  await eventually(
    'the step behind the call streams',
    async () => eventsOf(await cluster.store.events.read(thread, 0), 'model.chunk').length > 0,
  );
  return thread;
}

async function expectWhole(thread: string, content: string, tool: string): Promise<void> {
  await cluster.client.waitForIdle(thread);
  expect(await cluster.transcript(thread)).toEqual([
    `user: ${content}`,
    `assistant:  -> ${tool}`,
    `tool ${tool} success: wrote 1`,
    `assistant: Answered "${content}" after 1 tool results.`,
  ]);
  expect(cluster.ledger(thread)).toEqual(['1']);
}

describe('a worker that is lost in the step behind the last call of another', () => {
  it.each(PLACES)(
    'killed, with a call of %s at %s: the call ran once, and the step is taken over',
    async (tool, point) => {
      await cluster.keep(1);
      const content = contentOf(tool, point);
      const thread = await cluster.begin(content);
      await eventually('its worker dies', () => cluster.workers.length === 0);
      await cluster.keep(1);
      await expectWhole(thread, content, tool);
      expect((await activitiesOf(thread)).slice(0, 3)).toEqual(['openThread', 'modelStep', 'runTool']);
      const events = await cluster.store.events.read(thread, 0);
      expect(eventsOf(events, 'tool.started')).toHaveLength(1);
      expect(eventsOf(events, 'step.committed')).toHaveLength(2);
    },
  );

  it('killed as that step begins: the call ran once, and the step is taken over', async () => {
    await cluster.keep(1);
    const content = 'use hold 1';
    const thread = await cluster.begin(content);
    await eventually('the tool runs', () => cluster.ledger(thread).length === 1);
    cluster.orderDeath('step_begun');
    release(cluster.folder);
    await eventually('its worker dies', () => cluster.workers.length === 0);
    await cluster.keep(1);
    await expectWhole(thread, content, 'hold');
  });

  it('killed while the answer streams: its readers take back what they have seen of it', async () => {
    await cluster.keep(1);
    isToHang = true;
    const thread = await beginToStream();
    await cluster.workers[0]?.end('SIGKILL');
    await cluster.keep(1);
    await expectWhole(thread, TO_GO, 'write');
    const events = await cluster.store.events.read(thread, 0);
    // More, where a busy machine lets a heartbeat come too late.
    expect(eventsOf(events, 'attempt.discarded')[0]).toMatchObject({
      step: 2,
      data: { attempt: 1, call: 1, reason: 'WorkerLost' },
    });
    expect(eventsOf(events, 'step.started')).toHaveLength(2);
  });

  it('told to go with SIGTERM: the call keeps its result, and another worker asks the model', async () => {
    await cluster.keep(1);
    isToHang = true;
    const thread = await beginToStream();
    const [holder] = cluster.workers;
    await cluster.keep(2);
    await holder?.end('SIGTERM');
    await expectWhole(thread, TO_GO, 'write');
    const events = await cluster.store.events.read(thread, 0);
    expect(eventsOf(events, 'attempt.discarded')[0]).toMatchObject({
      step: 2,
      data: { reason: 'WorkerShutdown' },
    });
  });
});
