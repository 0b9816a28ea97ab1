/**
 * The worker is lost while an activity makes further steps. The calls have their results by then and never run again;
 * the step that was begun continues on another worker. Threads are at all places when their only worker is killed;
 * `npm run test:soak -- step-loop-kill` kills one worker per place, at the moment when its thread reaches it.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import { hangs, type RecordedRequest } from '../../src/testing/index.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { type DeathPoint, faultScript, hasStayed, orderStay, release } from '../support/fault-project.ts';
import { isLong } from '../support/long-form.ts';
import { eventually } from '../support/runtime.ts';
import { activitiesOf } from '../support/scheduled.ts';
import { killWorkers } from '../support/standing.ts';

interface Place {
  readonly tool: string;
  readonly times: number;
  readonly point: DeathPoint;
  /** The death is ordered when a request has this many tool results; the next worker that reaches `point` dies. */
  readonly orderedAfter: number;
  /**
   * The last call has begun with its answer, and its worker dies before its body: an idempotent one begins again, the
   * outcome of another is unknown.
   */
  readonly begun?: 'again' | 'unknown';
}

/** Where the worker dies. A tool that is not quick runs within the activity of its step from its second call on. */
const PLACES: readonly Place[] = [
  { tool: 'write', times: 1, point: 'model_answered', orderedAfter: 1 },
  { tool: 'write', times: 3, point: 'model_answered', orderedAfter: 2 },
  { tool: 'write', times: 3, point: 'tool_committed', orderedAfter: 2 },
  { tool: 'set', times: 3, point: 'model_committed', orderedAfter: 2, begun: 'again' },
  { tool: 'write', times: 3, point: 'model_committed', orderedAfter: 2, begun: 'unknown' },
  { tool: 'touch', times: 2, point: 'step_begun', orderedAfter: 1 },
  { tool: 'tap', times: 2, point: 'step_begun', orderedAfter: 1 },
  { tool: 'touch', times: 4, point: 'model_answered', orderedAfter: 3 },
  { tool: 'tap', times: 2, point: 'model_committed', orderedAfter: 2 },
  { tool: 'touch', times: 2, point: 'execution_ending', orderedAfter: 2 },
  { tool: 'tap', times: 3, point: 'status_committed', orderedAfter: 3 },
];

const QUICK = ['touch', 'tap'];

/** Threads whose last step hangs while it streams. */
const HANGING = [
  { tool: 'write', times: 1 },
  { tool: 'tap', times: 2 },
] as const;

type Hanging = (typeof HANGING)[number];
type End = 'until killed' | 'until told to go';

let cluster: Cluster;
/** Messages of threads whose last step is still to hang; each hangs once. */
const toHang = new Set<string>();
/** Thread ids by their first message. */
const threads = new Map<string, string>();

const saidBy = ({ messages }: RecordedRequest) =>
  String(messages.find(({ role }) => role === 'user')?.content);
const contentOf = ({ tool, times, point, orderedAfter }: Place) =>
  `use ${tool} ${times}, and die at ${point}, ordered after ${orderedAfter}`;
const HOLDING = 'use hold 1';
const streamingOf = ({ tool, times }: Hanging, end: End) => `use ${tool} ${times}, ${end}`;

/** In the long form the next worker that reaches the place dies; otherwise it stays there until all die at once. */
const order = (point: DeathPoint) => (isLong ? cluster.orderDeath(point) : orderStay(cluster.folder, point));

async function met(point: DeathPoint): Promise<void> {
  if (isLong) {
    await eventually('its worker dies', () => cluster.workers.length === 0);
    await cluster.keep(1);
  } else await eventually(`a thread at ${point}`, () => hasStayed(cluster.folder, point));
}

async function begin(content: string): Promise<string> {
  const thread = await cluster.begin(content);
  threads.set(content, thread);
  return thread;
}

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
          order(place.point);
        }
      const last = HANGING.find(({ tool }) => content.startsWith(`use ${tool} `));
      if (results !== last?.times || !toHang.delete(content)) return script(request, index);
      return hangs({ after: 'Answered' });
    },
    configuration: { modelGraceMs: 0 },
  });
  await cluster.keep(1);
  for (const place of PLACES) {
    await begin(contentOf(place));
    await met(place.point);
  }
  const holding = await begin(HOLDING);
  await eventually('the tool runs', () => cluster.ledger(holding).length === 1);
  order('step_begun');
  release(cluster.folder);
  await met('step_begun');
  for (const hanging of HANGING) await beginToStream(hanging, 'until killed');
  await killWorkers(cluster);
  await cluster.keep(1);
  // Rest first: each thread must see one death and nothing else.
  await Promise.all([...threads.values()].map((thread) => cluster.client.waitForIdle(thread)));
  for (const hanging of HANGING) await beginToStream(hanging, 'until told to go');
  const [holder] = cluster.workers;
  await cluster.keep(2);
  await holder?.end('SIGTERM');
}, 300_000);
afterAll(() => cluster?.close());

async function beginToStream(hanging: Hanging, end: End): Promise<void> {
  const content = streamingOf(hanging, end);
  toHang.add(content);
  const thread = await begin(content);
  await eventually('the last step hangs', async () => !toHang.has(content));
  const [first = 0] = eventsOf(await cluster.store.events.read(thread, 0), 'step.started').map(
    ({ step }) => step,
  );
  await eventually('it streams', async () => {
    const events = await cluster.store.events.read(thread, 0);
    return eventsOf(events, 'model.chunk').some(({ step }) => step !== first);
  });
}

interface Used {
  readonly content: string;
  readonly tool: string;
  readonly times: number;
  readonly begun?: Place['begun'];
}

/** Checks the thread and returns its id. */
async function expectWhole({ content, tool, times, begun }: Used): Promise<string> {
  const thread = threads.get(content) as string;
  await cluster.client.waitForIdle(thread);
  const known = begun === 'unknown' ? times - 1 : times;
  const lines = Array.from({ length: known }, (_, index) => String(index + 1));
  const unknown = [`assistant:  -> ${tool}`, expect.stringContaining('The outcome of this call is unknown')];
  expect(await cluster.transcript(thread)).toEqual([
    `user: ${content}`,
    ...lines.flatMap((line) => [`assistant:  -> ${tool}`, `tool ${tool} success: wrote ${line}`]),
    ...(known < times ? unknown : []),
    `assistant: Answered "${content}" after ${times} tool results.`,
  ]);
  expect(cluster.ledger(thread)).toEqual(lines);
  return thread;
}

describe('a worker lost in a further step of an activity', () => {
  it.each(PLACES)(
    'killed with $times calls of $tool at $point: no call runs twice, and the step is taken over',
    async (place) => {
      const thread = await expectWhole({ ...place, content: contentOf(place) });
      const last = place.begun === 'unknown' ? 'recordToolOutcome' : 'modelStep';
      const activities = (await activitiesOf(cluster.client, thread)).slice(
        0,
        QUICK.includes(place.tool) ? 2 : 4,
      );
      expect(activities).toEqual(['openThread', 'modelStep', 'runTool', last].slice(0, activities.length));
      const events = await cluster.store.events.read(thread, 0);
      expect(eventsOf(events, 'tool.started')).toHaveLength(
        place.begun === 'again' ? place.times + 1 : place.times,
      );
      expect(eventsOf(events, 'step.committed')).toHaveLength(place.times + 1);
    },
  );

  it('killed as the step after a call begins: the call ran once, and the step is taken over', async () => {
    await expectWhole({ content: HOLDING, tool: 'hold', times: 1 });
  });

  it.each(HANGING)(
    'killed while the answer after $times calls of $tool streams: readers discard the part that they have seen',
    async (used) => {
      const thread = await expectWhole({ ...used, content: streamingOf(used, 'until killed') });
      const events = await cluster.store.events.read(thread, 0);
      // More than one if a busy machine delays a heartbeat too long.
      expect(eventsOf(events, 'attempt.discarded')[0]).toMatchObject({
        step: used.times + 1,
        data: { attempt: 1, call: 1, reason: 'WorkerLost' },
      });
      expect(eventsOf(events, 'step.started')).toHaveLength(used.times + 1);
    },
  );

  it.each(HANGING)(
    'sent SIGTERM after $times calls of $tool: the results are kept, and another worker repeats the model request',
    async (used) => {
      const thread = await expectWhole({ ...used, content: streamingOf(used, 'until told to go') });
      const events = await cluster.store.events.read(thread, 0);
      expect(eventsOf(events, 'attempt.discarded')[0]).toMatchObject({
        step: used.times + 1,
        data: { reason: 'WorkerShutdown' },
      });
    },
  );
});
