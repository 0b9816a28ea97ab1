/**
 * The worker is lost while an activity has gone on into the next step: behind the last call of a step, or behind quick calls. The calls
 * have their results by then, and are never run again; the step that was begun goes on elsewhere.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import { hangs, type RecordedRequest } from '../../src/testing/index.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { type DeathPoint, faultScript, release } from '../support/fault-project.ts';
import { eventually } from '../support/runtime.ts';
import { activitiesOf } from '../support/scheduled.ts';

interface Place {
  readonly tool: string;
  readonly times: number;
  readonly point: DeathPoint;
  /** Calls that the request shows as whose step the death is ordered; the next worker that comes by the point dies. */
  readonly orderedAfter: number;
}

/** Where the worker dies. A model step goes on where the step before was quick too: the second one. */
const PLACES: readonly Place[] = [
  { tool: 'write', times: 1, point: 'model_answered', orderedAfter: 1 },
  { tool: 'write', times: 1, point: 'model_committed', orderedAfter: 1 },
  { tool: 'set', times: 1, point: 'model_committed', orderedAfter: 1 },
  { tool: 'touch', times: 2, point: 'step_begun', orderedAfter: 1 },
  { tool: 'tap', times: 2, point: 'step_begun', orderedAfter: 1 },
  { tool: 'touch', times: 2, point: 'model_answered', orderedAfter: 2 },
  { tool: 'tap', times: 2, point: 'model_committed', orderedAfter: 2 },
];

/** Their last step hangs as it streams. */
const HANGING = [
  { tool: 'write', times: 1 },
  { tool: 'tap', times: 2 },
] as const;

let cluster: Cluster;
let isToHang = false;

const saidBy = ({ messages }: RecordedRequest) =>
  String(messages.find(({ role }) => role === 'user')?.content);
const contentOf = ({ tool, times, point, orderedAfter }: Place) =>
  `use ${tool} ${times}, and die at ${point}, ordered after ${orderedAfter}`;
const toldToGo = ({ tool, times }: Pick<Place, 'tool' | 'times'>) => `use ${tool} ${times}, until told to go`;

beforeAll(async () => {
  const script = faultScript();
  const ordered = new Set<string>();
  cluster = await startCluster({
    script: (request, index) => {
      const content = saidBy(request);
      const results = request.messages.filter(({ role }) => role === 'tool').length;
      for (const place of PLACES)
        if (content === contentOf(place) && results === place.orderedAfter && !ordered.has(content)) {
          ordered.add(content);
          cluster.orderDeath(place.point);
        }
      const last = HANGING.find((hanging) => content === toldToGo(hanging));
      if (results !== last?.times || !isToHang) return script(request, index);
      isToHang = false;
      return hangs({ after: 'Answered' });
    },
    configuration: { modelGraceMs: 0 },
  });
});
afterAll(() => cluster?.close());

async function beginToStream(content: string): Promise<string> {
  await cluster.keep(1);
  isToHang = true;
  const thread = await cluster.begin(content);
  await eventually('the step behind hangs', async () => !isToHang);
  const [first = 0] = eventsOf(await cluster.store.events.read(thread, 0), 'step.started').map(
    ({ step }) => step,
  );
  await eventually('it streams', async () => {
    const events = await cluster.store.events.read(thread, 0);
    return eventsOf(events, 'model.chunk').some(({ step }) => step !== first);
  });
  return thread;
}

interface Used {
  readonly content: string;
  readonly tool: string;
  readonly times: number;
}

async function expectWhole(thread: string, { content, tool, times }: Used): Promise<void> {
  await cluster.client.waitForIdle(thread);
  const lines = Array.from({ length: times }, (_, index) => String(index + 1));
  expect(await cluster.transcript(thread)).toEqual([
    `user: ${content}`,
    ...lines.flatMap((line) => [`assistant:  -> ${tool}`, `tool ${tool} success: wrote ${line}`]),
    `assistant: Answered "${content}" after ${times} tool results.`,
  ]);
  expect(cluster.ledger(thread)).toEqual(lines);
}

describe('a worker that is lost in the step behind another, within one activity', () => {
  it.each(PLACES)(
    'killed, with $times calls of $tool, at $point: each call ran once, and the step is taken over',
    async (place) => {
      await cluster.keep(1);
      const content = contentOf(place);
      const thread = await cluster.begin(content);
      await eventually('its worker dies', () => cluster.workers.length === 0);
      await cluster.keep(1);
      await expectWhole(thread, { ...place, content });
      const steps = ['openThread', 'modelStep', place.times > 1 ? 'modelStep' : 'runTool'];
      expect((await activitiesOf(cluster.client, thread)).slice(0, 3)).toEqual(steps);
      const events = await cluster.store.events.read(thread, 0);
      expect(eventsOf(events, 'tool.started')).toHaveLength(place.times);
      expect(eventsOf(events, 'step.committed')).toHaveLength(place.times + 1);
    },
  );

  it('killed as that step begins behind a call: the call ran once, and the step is taken over', async () => {
    await cluster.keep(1);
    const content = 'use hold 1';
    const thread = await cluster.begin(content);
    await eventually('the tool runs', () => cluster.ledger(thread).length === 1);
    cluster.orderDeath('step_begun');
    release(cluster.folder);
    await eventually('its worker dies', () => cluster.workers.length === 0);
    await cluster.keep(1);
    await expectWhole(thread, { content, tool: 'hold', times: 1 });
  });

  it.each(HANGING)(
    'killed while the answer behind $times calls of $tool streams: its readers take back what they have seen of it',
    async (used) => {
      const content = toldToGo(used);
      const thread = await beginToStream(content);
      await cluster.workers[0]?.end('SIGKILL');
      await cluster.keep(1);
      await expectWhole(thread, { ...used, content });
      const events = await cluster.store.events.read(thread, 0);
      // More, where a busy machine lets a heartbeat come too late.
      expect(eventsOf(events, 'attempt.discarded')[0]).toMatchObject({
        step: used.times + 1,
        data: { attempt: 1, call: 1, reason: 'WorkerLost' },
      });
      expect(eventsOf(events, 'step.started')).toHaveLength(used.times + 1);
    },
  );

  it.each(HANGING)(
    'told to go with SIGTERM, behind $times calls of $tool: they keep their results, and another worker asks the model',
    async (used) => {
      const content = toldToGo(used);
      const thread = await beginToStream(content);
      const [holder] = cluster.workers;
      await cluster.keep(2);
      await holder?.end('SIGTERM');
      await expectWhole(thread, { ...used, content });
      const events = await cluster.store.events.read(thread, 0);
      expect(eventsOf(events, 'attempt.discarded')[0]).toMatchObject({
        step: used.times + 1,
        data: { reason: 'WorkerShutdown' },
      });
    },
  );
});
