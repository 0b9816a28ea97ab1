/**
 * A worker dies at the moment when a turn reaches a place: the turn summarises its history, warns of a loop, and asks
 * for an approval. It ends as an undisturbed turn does.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { INSTRUCTIONS } from '../../src/core/context/summary.ts';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import { calls, type RecordedRequest, type ScriptStep, says } from '../../src/testing/index.ts';
import { answerWait } from '../../src/workflows/messages.ts';
import { openWait } from '../support/approvals.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import type { DeathPoint } from '../support/fault-project.ts';
import { PATIENCE } from '../support/killing.ts';

/** As many messages as the guard of the agent `careful` allows; the next one exceeds its threshold. */
const WORDS = Array.from({ length: 19 }, (_, index) => ({ content: `word ${index}` }));
/** Number of identical calls after which the model is warned. */
const REPEATED = 4;

/** Places from the start of the turn to its approval. */
const BEFORE: readonly DeathPoint[] = [
  'step_begun',
  'summarised',
  'summary_kept',
  'model_streaming',
  'model_answered',
  'model_committed',
  'tool_not_begun',
  'body_before',
  'body_after',
  'tool_committed',
  'wait_opened',
];
/** Places from the approval to the end of the turn. */
const BEHIND: readonly DeathPoint[] = [
  'wait_answered',
  'tool_not_begun',
  'body_before',
  'body_after',
  'tool_committed',
  'step_begun',
  'model_streaming',
  'model_answered',
  'model_committed',
  'execution_ending',
  'status_committed',
];

const APPROVED = { approved: true } as const;

export interface Deaths {
  readonly before?: DeathPoint;
  readonly behind?: DeathPoint;
}

/** One death per turn. */
export const EACH_PLACE: readonly Deaths[] = [
  ...BEFORE.map((before) => ({ before })),
  ...BEHIND.map((behind) => ({ behind })),
];

/** Depends only on the request, so that a repeated request gets the same answer. */
function answer({ messages }: RecordedRequest): ScriptStep {
  if (messages[0]?.content === INSTRUCTIONS) return says('what was said');
  const begun = messages.findLastIndex(({ content }) => content === 'now');
  if (begun < 0) return says('noted');
  const results = messages.slice(begun).filter(({ role }) => role === 'tool').length;
  if (results < REPEATED) return calls('write', { line: 'the same' }, { text: 'Writing it down.' });
  return results === REPEATED ? calls('refund', { line: 'back' }) : says('done');
}

export function describeGuardedTurn(matrix: readonly Deaths[]): void {
  describe('a worker process killed with SIGKILL in a guarded turn', () => guardedTurn(matrix));
}

function guardedTurn(matrix: readonly Deaths[]): void {
  let cluster: Cluster;
  let undisturbed: Turn;

  beforeAll(async () => {
    cluster = await startCluster({ script: answer });
    await cluster.keep(2);
    undisturbed = await turn({});
  });
  afterAll(() => cluster?.close());

  type Turn = Awaited<ReturnType<typeof turn>>;

  async function turn({ before, behind }: Deaths) {
    const { client, store } = cluster;
    const { threadId: thread } = await client.startThread({ agent: 'careful', messages: WORDS });
    const { lastSeq: from } = await client.waitForIdle(thread, { timeoutMs: PATIENCE[0] });
    await dying(before, () => client.queueMessage(thread, { content: 'now' }));
    const { id } = await openWait(cluster, thread, ...PATIENCE);
    await dying(behind, () =>
      behind === 'wait_answered' ? bySignal(thread, id) : client.answerWait(id, APPROVED),
    );
    await client.waitForIdle(thread, { timeoutMs: PATIENCE[0] });
    const events = await store.events.read(thread, from, 100_000);
    const kept = eventsOf(events, 'context.compacted');
    const asked = eventsOf(events, 'model.called').filter(({ data }) => data.purpose === 'compaction');
    return {
      transcript: await cluster.transcript(thread),
      ledger: cluster.ledger(thread),
      summaries: kept.map(({ data: { messages } }) => messages),
      asked: asked.length,
      askedOnceKept: asked.filter(({ seq }) => seq > (kept[0]?.seq ?? 0)).length,
      warned: eventsOf(events, 'loop.warning').map(({ data }) => [data.detector, data.count]),
      waits: eventsOf(events, 'wait.opened').length,
      actions: (await client.listActions({ threadId: thread })).map(({ state }) => state),
      ended: eventsOf(events, 'execution.ended').map(({ data: { reason, status } }) => ({ reason, status })),
    };
  }

  /**
   * Answers by a signal, so that the thread's worker stores the answer; the client would store it before it sends it.
   */
  function bySignal(thread: string, id: string): Promise<void> {
    const handle = cluster.client.temporal.workflow.getHandle(`thread/${thread}`);
    return handle.signal(answerWait, { id, answer: APPROVED });
  }

  async function dying(point: DeathPoint | undefined, act: () => Promise<unknown>): Promise<void> {
    if (!point) return void (await act());
    cluster.orderDeath(point);
    await act();
    await cluster.died(point);
    await cluster.keep(2);
  }

  it('passes compaction, loop warning and approval when no worker dies', () => {
    expect(undisturbed).toMatchObject({
      ledger: [...Array(REPEATED).fill('the same'), 'back'],
      summaries: [expect.any(Number)],
      ...{ asked: 1, askedOnceKept: 0, warned: [['generic_repeat', REPEATED]], waits: 1 },
      ended: [expect.anything()],
    });
    expect(undisturbed.actions).toContain('completed');
  });

  it.each(matrix.map((deaths) => [toWords(deaths), deaths] as const))(
    '[AX-28] %s leaves the same end, each effect once, and each summary once',
    async (_where, deaths) => {
      const survived = await turn(deaths);
      const { before, behind } = deaths;
      const isCutOff = [before, behind].some((point) => point === 'body_before' || point === 'body_after');
      // The tool is never called again: if the call was cut off, it is unknown whether it had its effect.
      const known = ({ transcript }: Turn) =>
        transcript.filter((line) => !isCutOff || !/^tool (write|refund) /.test(line));
      expect(known(survived)).toEqual(known(undisturbed));
      expect(
        survived.transcript.filter((line) => line.includes('outcome of this call is unknown')),
      ).toHaveLength(isCutOff ? 1 : 0);
      const isLost = [before, behind].includes('body_before');
      expect(survived.ledger).toHaveLength(undisturbed.ledger.length - (isLost ? 1 : 0));
      expect(new Set(survived.ledger.filter((line) => line === 'back')).size).toBeLessThanOrEqual(1);
      const { ended, summaries, waits, warned } = undisturbed;
      expect(survived).toMatchObject({ ended, summaries, waits, ...(isCutOff ? {} : { warned }) });
      // A summary that was requested but not stored is requested again, also if a busy machine delays its worker; one
      // that is stored never is.
      expect(survived.askedOnceKept).toBe(0);
      expect(survived.asked).toBeGreaterThanOrEqual(undisturbed.asked + (before === 'summarised' ? 1 : 0));
    },
  );
}

function toWords({ before, behind }: Deaths): string {
  const places = [before && `at ${before}, before the approval`, behind && `at ${behind}, behind it`];
  return places.filter(Boolean).join(', and ');
}
