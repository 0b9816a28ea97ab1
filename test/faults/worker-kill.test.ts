/** A worker is killed at every place of a step; another goes on (house: idempotent commits, at most once for tools). */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import type { DeathPoint } from '../support/fault-project.ts';
import { eventually } from '../support/runtime.ts';

let cluster: Cluster;

beforeAll(async () => {
  // So low that a dozen steps continue as new more than once.
  cluster = await startCluster({ configuration: { historySoftLimit: 50 } });
});
beforeEach(() => cluster.keep(2));
afterAll(() => cluster?.close());

const undisturbed = new Map<string, string[]>();

/** What a run of this message looks like when nobody is killed. */
async function expectedTranscript(message: string): Promise<string[]> {
  const known = undisturbed.get(message);
  if (known) return known;
  const thread = await runToRest(await cluster.begin(message));
  const transcript = await cluster.transcript(thread);
  undisturbed.set(message, transcript);
  return transcript;
}

async function runToRest(thread: string): Promise<string> {
  await cluster.client.waitForIdle(thread);
  return thread;
}

async function runWithDeath(message: string, point: DeathPoint): Promise<string> {
  cluster.orderDeath(point);
  const thread = await cluster.begin(message);
  await cluster.died(point);
  // The next test's worker starts while the dead one's heartbeat timeout passes.
  await Promise.all([runToRest(thread), cluster.keep(2)]);
  return thread;
}

describe('a worker process killed with SIGKILL', () => {
  it.each<[string, DeathPoint, string]>([
    ['after the model answered, before the commit', 'model_answered', 'use write 1'],
    ['after the commit of a step, before its completion', 'model_committed', 'use write 1'],
    ['before a tool body starts', 'tool_not_begun', 'use write 1'],
    ["after a tool's commit, before its completion", 'tool_committed', 'use write 1'],
    ['after the thread came to rest in the store', 'status_committed', 'use write 1'],
    ['during continue-as-new', 'thread_opening', 'use write 12'],
  ])(
    '%s leaves the transcript of an undisturbed run and each side effect once',
    async (_when, point, message) => {
      const expected = await expectedTranscript(message);
      const thread = await runWithDeath(message, point);
      expect(await cluster.transcript(thread)).toEqual(expected);
      expect(cluster.ledger(thread)).toEqual(
        expected.filter((line) => line.startsWith('tool ')).map((_, i) => `${i + 1}`),
      );
    },
  );

  it('while a model call streams leaves the transcript of an undisturbed run, and readers a second attempt', async () => {
    const expected = await expectedTranscript('slowly');
    const thread = await cluster.begin('slowly');
    const chunk = async () =>
      (await cluster.client.store.readEvents(thread, 0)).some((event) => event.type === 'model.chunk');
    await eventually('streamed text in the log', chunk);
    cluster.orderDeath('model_streaming');
    await cluster.died('model_streaming');
    await Promise.all([runToRest(thread), cluster.keep(2)]);
    expect(await cluster.transcript(thread)).toEqual(expected);
    const events = await cluster.client.store.readEvents(thread, 0);
    // A third one where a busy machine lets the second one's heartbeat come too late.
    expect(Number(events.find((event) => event.type === 'step.committed')?.attempt)).toBeGreaterThan(1);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  });

  it.each<[string, DeathPoint, string[]]>([
    ['before its side effect', 'body_before', []],
    ['after its side effect', 'body_after', ['1']],
  ])(
    'inside a tool body %s stores an unknown outcome, tells the model, and never runs it again',
    async (_when, point, written) => {
      const expected = await expectedTranscript('use write 1');
      const thread = await runWithDeath('use write 1', point);
      const transcript = await cluster.transcript(thread);
      expect(transcript[2]).toMatch(/^tool write error: .*outcome of this call is unknown/);
      expect(transcript.with(2, expected[2] as string)).toEqual(expected);
      const result = (await cluster.messages(thread)).find(({ role }) => role === 'tool');
      expect(result?.metadata).toMatchObject({ outcome: 'unknown' });
      expect(JSON.stringify(cluster.model.requests.at(-1)?.messages)).toContain(
        'outcome of this call is unknown',
      );
      expect(cluster.ledger(thread)).toEqual(written);
    },
  );

  it.each<[string, string, DeathPoint, string[]]>([
    ['an idempotent', 'set', 'body_before', ['1']],
    ['an idempotent', 'set', 'body_after', ['1', '1']],
    ['a quick', 'touch', 'body_before', ['1']],
    ['a quick', 'touch', 'body_after', ['1', '1']],
  ])(
    'inside %s tool runs it again (%s, %s) and stores its result once',
    async (_kind, tool, point, written) => {
      const expected = await expectedTranscript(`use ${tool} 1`);
      const thread = await runWithDeath(`use ${tool} 1`, point);
      expect(await cluster.transcript(thread)).toEqual(expected);
      expect(cluster.ledger(thread)).toEqual(written);
    },
  );
});
