/**
 * A worker is killed at every place of a step; another one goes on (commits are idempotent, tools run at most once).
 */

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import { type Doom, type DoomedCluster, type Manner, startDoomed } from '../support/doomed-cluster.ts';
import { eventually } from '../support/eventually.ts';
import type { Cluster } from '../support/fault-cluster.ts';
import type { DeathPoint } from '../support/fault-project.ts';

const doomOf = (content: string, point: DeathPoint): Doom => ({ content, point });

const UNDISTURBED: [string, Doom][] = [
  ['after the model answered, before the commit', doomOf('use write 1', 'model_answered')],
  ['after the commit of a step, before its completion', doomOf('use write 1', 'model_committed')],
  ['before a tool body starts', doomOf('use write 1', 'tool_not_begun')],
  ["after a tool's commit, before its completion", doomOf('use write 1', 'tool_committed')],
  ['between two calls within a step', doomOf('use touch at once', 'tool_committed')],
  ['after the last call within a step, before its completion', doomOf('use touch 1', 'tool_committed')],
  ['before a call within a step', doomOf('use touch 1', 'tool_not_begun')],
  ['after the thread came to rest in the store', doomOf('use write 1', 'status_committed')],
  ['during continue-as-new', doomOf('use write 12', 'thread_opening')],
];

const ONCE: [string, string, Doom, string[]][] = [
  ['write', 'before its side effect', doomOf('use write 1, in vain', 'body_before'), []],
  ['write', 'after its side effect', doomOf('use write 1, unheard', 'body_after'), ['1']],
  ['tap', 'before its side effect, within its step', doomOf('use tap 1, in vain', 'body_before'), []],
  ['tap', 'after its side effect, within its step', doomOf('use tap 1, unheard', 'body_after'), ['1']],
];

const AGAIN: [string, string, Doom, string[]][] = [
  ['an idempotent tool', 'body_before', doomOf('use set 1', 'body_before'), ['1']],
  ['an idempotent tool', 'body_after', doomOf('use set 1', 'body_after'), ['1', '1']],
  ['a quick tool', 'body_before', doomOf('use touch 1', 'body_before'), ['1']],
  ['a quick tool', 'body_after', doomOf('use touch 1', 'body_after'), ['1', '1']],
  ['the first of two quick tools', 'body_after', doomOf('use touch at once', 'body_after'), ['1', '1', '2']],
];

const STREAMING: Doom = {
  content: 'slowly',
  point: 'model_streaming',
  late: true,
  once: (thread, { store }) =>
    eventually('streamed text in the log', async () =>
      (await store.events.read(thread, 0)).some(({ type }) => type === 'model.chunk'),
    ),
};

export function describeWorkerKill(manner: Manner): void {
  let doomed: DoomedCluster;
  let cluster: Cluster;
  const undisturbed = new Map<string, string[]>();

  beforeAll(async () => {
    doomed = await startDoomed({
      manner,
      dooms: [
        ...UNDISTURBED.map(([, doom]) => doom),
        ...ONCE.map(([, , doom]) => doom),
        ...AGAIN.map(([, , doom]) => doom),
        STREAMING,
      ],
      isWatched: ({ messages }) => messages.at(-1)?.content === 'slowly',
      // So low that a thread of a dozen steps continues as new.
      configuration: { historySoftLimit: 50, stepsPerActivity: 2 },
    });
    cluster = doomed.cluster;
  });
  afterAll(() => doomed?.close());

  /** Model requests about the thread of this message, as JSON. */
  function toldTo(message: string): string[] {
    const requests = cluster.model.requests.map(({ messages }) => JSON.stringify(messages));
    return requests.filter((request) => request.includes(message));
  }

  /** Transcript of an undisturbed run of this message. */
  async function expectedTranscript(message: string): Promise<string[]> {
    const known = undisturbed.get(message);
    if (known) return known;
    const transcript = await cluster.transcript(await runToRest(await cluster.begin(message)));
    undisturbed.set(message, transcript);
    return transcript;
  }

  async function runToRest(thread: string): Promise<string> {
    await cluster.client.waitForIdle(thread);
    return thread;
  }

  const survivor = async (doom: Doom) => runToRest(await doomed.threadOf(doom));

  describe('a worker process killed with SIGKILL', () => {
    it.each(UNDISTURBED)(
      '[AX-07] %s leaves the transcript of an undisturbed run and each side effect once',
      async (_when, doom) => {
        const thread = await survivor(doom);
        const expected = await expectedTranscript(doom.content);
        expect(await cluster.transcript(thread)).toEqual(expected);
        expect(cluster.ledger(thread)).toEqual(
          expected.filter((line) => line.startsWith('tool ')).map((_, i) => `${i + 1}`),
        );
      },
    );

    it('[AX-40] while a model call streams leaves the transcript of an undisturbed run, and readers see a second attempt', async () => {
      const thread = await survivor(STREAMING);
      expect(await cluster.transcript(thread)).toEqual(await expectedTranscript('slowly'));
      const events = await cluster.store.events.read(thread, 0);
      // More than one if a busy machine delays the second worker's heartbeat too long.
      expect(Number(events.find(({ type }) => type === 'step.committed')?.attempt)).toBeGreaterThan(1);
      expect(eventsOf(events, 'attempt.discarded')[0]).toMatchObject({
        data: { attempt: 1, call: 1, reason: 'WorkerLost' },
      });
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    });

    it.each(ONCE)(
      '[AX-65] inside the body of %s %s stores an unknown outcome, shows it to the model, and never runs it again',
      async (tool, _when, doom, written) => {
        const thread = await survivor(doom);
        const expected = await expectedTranscript(doom.content);
        const transcript = await cluster.transcript(thread);
        expect(transcript[2]).toMatch(new RegExp(`^tool ${tool} error: .*outcome of this call is unknown`));
        expect(transcript.with(2, expected[2] as string)).toEqual(expected);
        const result = (await cluster.messages(thread)).find(({ role }) => role === 'tool');
        expect(result?.metadata).toMatchObject({ outcome: 'unknown' });
        expect(toldTo(doom.content).join()).toContain('outcome of this call is unknown');
        expect(cluster.ledger(thread)).toEqual(written);
      },
    );

    it.each(AGAIN)(
      'inside %s runs it again (%s) and stores its result once',
      async (_kind, _point, doom, written) => {
        const thread = await survivor(doom);
        expect(await cluster.transcript(thread)).toEqual(await expectedTranscript(doom.content));
        expect(cluster.ledger(thread)).toEqual(written);
      },
    );
  });
}
