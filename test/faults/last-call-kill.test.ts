/**
 * The worker is lost while the last call of a step has gone on into the next one, within one activity: the call has its result by then,
 * and is never run again; the step that was begun goes on elsewhere.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import { hangs, type RecordedRequest } from '../../src/testing/index.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { type DeathPoint, faultScript } from '../support/fault-project.ts';
import { eventually } from '../support/runtime.ts';

/** Where the worker dies, and behind how many results its death is ordered: the point is passed next by the step behind the call. */
const PLACES: readonly [tool: string, point: DeathPoint, results: number][] = [
  ['write', 'step_begun', 0],
  ['write', 'model_answered', 1],
  ['write', 'model_committed', 1],
  ['set', 'model_committed', 1],
];

const TO_GO = 'use write 1, until told to go';

let cluster: Cluster;
let isToHang = true;

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
      for (const [tool, point, after] of PLACES)
        if (content === contentOf(tool, point) && results === after && !ordered.has(content)) {
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
      // An idempotent call is tried again, and goes on again; any other is settled, and its step is asked for by itself.
      const behind = tool === 'set' ? [] : ['recordToolOutcome', 'modelStep'];
      expect(await activitiesOf(thread)).toEqual([
        'openThread',
        'modelStep',
        'runTool',
        ...behind,
        'commitStatus',
      ]);
      const events = await cluster.store.events.read(thread, 0);
      expect(eventsOf(events, 'tool.started')).toHaveLength(1);
      expect(eventsOf(events, 'step.committed')).toHaveLength(2);
    },
  );

  it('told to go with SIGTERM: the call keeps its result, and another worker asks the model', async () => {
    await cluster.keep(1);
    const thread = await cluster.begin(TO_GO);
    await eventually(
      'the step behind the call streams',
      async () => eventsOf(await cluster.store.events.read(thread, 0), 'model.chunk').length > 0,
    );
    const [holder] = cluster.workers;
    await cluster.keep(2);
    await holder?.end('SIGTERM');
    await expectWhole(thread, TO_GO, 'write');
    expect(await activitiesOf(thread)).toEqual([
      'openThread',
      'modelStep',
      'runTool',
      'modelStep',
      'commitStatus',
    ]);
  });
});
