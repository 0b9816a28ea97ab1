/**
 * Readers of a log whose streamed text was removed: whatever they have read before, they receive the whole of it, and
 * nothing twice.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { followEvents } from '../../src/client/follow-events.ts';
import { followForm } from '../../src/client/follow-run.ts';
import { isTerminal } from '../../src/projections/agenticx/agenticx-event.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { ThreadStore } from '../../src/store/store.ts';
import { message, openThread, type ThreadDriver } from '../contract/thread-driver.ts';
import { collect } from './golden.ts';

/**
 * A thread with three answers: one with another row among its chunks, one whose first request was given up, and one
 * that was cut off.
 */
async function converse(store: ThreadStore): Promise<ThreadDriver> {
  const thread = await openThread(store);
  const first = await thread.beginCall([message('a')]);
  const ask = (call: number, ref = first) =>
    store.modelCalls.start({ ...ref, call, model: 'm', modelId: 'm-1' });
  await ask(1);
  await thread.chunk(first, 'one ');
  await thread.chunk(first, 'and ');
  await store.events.append(thread.id, { type: 'custom', data: { event: 'tick', data: 1 } });
  await thread.chunk(first, 'two');
  await store.modelCalls.end({ ...first, call: 1, ok: true });
  await thread.commit(first, { content: 'one and two' });
  thread.afterStep = 1;
  const second = await thread.beginCall([message('b')]);
  await ask(1, second);
  await thread.chunk(second, 'thr', 1);
  const error = { code: 'stalled', message: 'no more' };
  await store.modelCalls.end({ ...second, call: 1, ok: false, error, discards: true });
  await ask(2, second);
  await thread.chunk(second, 'three', 2);
  await store.modelCalls.end({ ...second, call: 2, ok: true });
  await thread.commit(second, { content: 'three' });
  thread.afterStep = 2;
  const third = await thread.beginCall([message('c')]);
  await ask(1, third);
  await thread.chunk(third, 'fo');
  await thread.chunk(third, 'ur');
  await thread.rest('stopped');
  return thread;
}

interface Told {
  readonly cursor: string;
  readonly says?: string;
  readonly forgets?: boolean;
  readonly ends?: boolean;
  readonly event: unknown;
}

/** The text of each answer that a reader has at its end. */
function toAnswers(told: readonly Told[]): readonly string[] {
  const answers: string[] = [];
  let text = '';
  for (const { says, forgets, ends } of told) {
    if (forgets) text = '';
    text += says ?? '';
    if (!ends) continue;
    answers.push(text);
    text = '';
  }
  return answers;
}

const READINGS = {
  async plain(store: ThreadStore, id: string, after?: string): Promise<Told[]> {
    const rows = await collect(followEvents(store, id, { after: Number(after ?? 0), follow: false }));
    return rows.map((event) => ({
      cursor: String(event.seq),
      event,
      ...(event.type === 'model.chunk' ? { says: event.data.delta } : {}),
      forgets: event.type === 'attempt.discarded',
      ends: event.type === 'step.committed' || event.type === 'execution.aborted',
    }));
  },
  async run(store: ThreadStore, id: string, after?: string): Promise<Told[]> {
    const events = await collect(followForm(store, id, { as: 'run', after, follow: false }));
    return events.map(({ cursor, event }) => {
      const kind = event.payload.llm_event_type;
      return {
        cursor,
        event,
        ...(kind === 'llm_chunk' ? { says: String(event.payload.content) } : {}),
        forgets: kind === 'llm_discarded',
        ends: kind === 'llm_response' || event.final,
      };
    });
  },
  async agenticx(store: ThreadStore, id: string, after?: string): Promise<Told[]> {
    const events = await collect(followForm(store, id, { as: 'agenticx', after, follow: false }));
    return events.map(({ cursor, event }) => ({
      cursor,
      event,
      ...(event.type === 'token' ? { says: event.data.text } : {}),
      forgets: event.type === 'error' && event.data.discarded === true,
      ends: event.type === 'round_start' || isTerminal(event),
    }));
  },
} as const;

describe('a log with pruned text', () => {
  let store: ThreadStore;
  let id: string;
  const live: Record<string, readonly Told[]> = {};
  const late: Record<string, readonly Told[]> = {};

  beforeAll(async () => {
    const folder = process.env.EVERTHREAD_TEST_FOLDER as string;
    store = await openStore(`sqlite:${join(folder, `${randomUUID()}.db`)}`, '');
    ({ id } = await converse(store));
    for (const [as, read] of Object.entries(READINGS)) live[as] = await read(store, id);
    while ((await store.events.removeChunks(-60_000)) > 0);
    for (const [as, read] of Object.entries(READINGS)) late[as] = await read(store, id);
  });

  it.each(['plain', 'run'] as const)('gives a late reader of %s the remaining events unchanged', (as) => {
    const left = new Set(late[as]?.map(({ cursor }) => cursor));
    expect(late[as]).toEqual(live[as]?.filter(({ cursor }) => left.has(cursor)));
    expect(live[as]?.filter(({ cursor }) => !left.has(cursor)).map(({ says }) => says)).toEqual([
      ...['one ', 'and ', 'two', 'thr', 'three', 'fo', 'ur'],
    ]);
  });

  it('[AX-81] gives a late reader of AgenticX’s events each text as one token, and the rest unchanged', () => {
    const tokens = late.agenticx?.filter(({ says }) => says !== undefined);
    expect(tokens?.map(({ says }) => says)).toEqual(['one and two', 'three', 'four']);
    const others = (told: readonly Told[] | undefined) => told?.filter(({ says }) => says === undefined);
    expect(others(late.agenticx)).toEqual(others(live.agenticx));
  });

  it.each(['plain', 'run', 'agenticx'] as const)(
    '[PL-21] gives each reader of %s the whole text once, from any cursor',
    async (as) => {
      const all = live[as] ?? [];
      const whole = toAnswers(all);
      const forgets = (told: readonly Told[]) => told.filter((each) => each.forgets).length;
      let mended = 0;
      for (const [n, { cursor }] of all.entries()) {
        const rest = await READINGS[as](store, id, cursor);
        const before = all.slice(0, n + 1);
        const answers = toAnswers([...before, ...rest]);
        if (forgets(rest) > forgets(all.slice(n + 1))) mended += 1;
        // If a reader had nothing of a text, a run and a plain reading report it only with its answer.
        const begun = whole.map((text, at) => (as === 'agenticx' ? text : (answers[at] && text) || ''));
        expect(answers).toEqual(begun);
        const cursors = rest.map(({ cursor: each }) => Number(each.split('.')[0]));
        expect(cursors).toEqual(cursors.toSorted((a, b) => a - b));
        expect(Math.min(...cursors, Number.MAX_SAFE_INTEGER)).toBeGreaterThanOrEqual(
          Number(cursor.split('.')[0]),
        );
      }
      expect(mended).toBeGreaterThanOrEqual(5);
    },
  );

  it('sends the pruned text under the cursor of its last chunk, again to a reader that resumes from there', async () => {
    const chunks = live.plain?.filter(({ says }) => says !== undefined).map(({ cursor }) => cursor) ?? [];
    const [first = '', , last = ''] = chunks;
    const rest = await READINGS.plain(store, id, first);
    const [custom, forget, text, answered] = rest.map(({ event }) => event as Record<string, unknown>);
    expect(custom).toMatchObject({ type: 'custom' });
    expect(forget).toMatchObject({
      seq: Number(last),
      type: 'attempt.discarded',
      data: { attempt: 1, call: 1, reason: 'Removed' },
    });
    expect(text).toMatchObject({
      seq: Number(last),
      type: 'model.chunk',
      data: { delta: 'one and two', call: 1 },
    });
    expect(answered).toMatchObject({ type: 'model.answered' });
    expect(await READINGS.plain(store, id, last)).toEqual(rest.slice(1));
  });
});
