/** Rows of a log as items of a story: the same however they arrive, whole or from the middle. */
import { describe, expect, it } from '@jest/globals';
import type { ThreadEvent } from '../../src/core/event/thread-event.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { toTimeRows } from '../../src/ui/drawer/spans.ts';
import { StoryLog } from '../../src/ui/story/log.ts';
import { mergeNotes } from '../../src/ui/story/story-line.ts';
import { testRuntime } from '../support/runtime.ts';
import { weatherTools } from './weather.ts';

async function realRows(): Promise<readonly ThreadEvent[]> {
  const model = scriptedModel([
    calls('weather', { city: 'Rome' }, { text: 'Looking.' }),
    says('Sunny.', { chunks: 3 }),
  ]);
  const runtime = await testRuntime({ model, tools: weatherTools() });
  const threadId = await runtime.start('How is the weather?');
  const rows: ThreadEvent[] = [];
  for await (const row of runtime.client.events(threadId, { follow: false })) rows.push(row);
  return rows;
}

const shapeOf = ({ items }: StoryLog) =>
  items.map((item) => {
    if (item.kind === 'message') return item.role;
    if (item.kind === 'step') return `step ${item.step} ${item.state} ${item.calls.length}`;
    return item.kind === 'tool' ? `${item.name} ${item.state}` : item.kind;
  });

function readAll(rows: readonly ThreadEvent[]): StoryLog {
  const log = new StoryLog();
  for (const row of rows) log.add(row);
  return log;
}

describe('the story of a log', () => {
  it('tells messages, steps and calls in the order of the log, each once however often its row arrives', async () => {
    const rows = await realRows();
    const log = readAll(rows);
    expect(shapeOf(log)).toEqual([
      'user',
      'step 1 done 1',
      'assistant',
      'weather success',
      'step 2 done 1',
      'assistant',
    ]);
    for (const row of rows) log.add(row);
    expect(log.items).toHaveLength(6);
    const [step] = log.items.filter((item) => item.kind === 'step');
    expect(step?.calls[0]).toMatchObject({ id: '1.1.1', model: 'scripted' });
    expect(step?.calls[0]?.firstAt).toBeGreaterThanOrEqual(step?.calls[0]?.at ?? Number.POSITIVE_INFINITY);
    expect(toTimeRows(log.items, Date.now() * 1000).map(({ label }) => label)).toEqual([
      'Step 1',
      'weather',
      'Step 2',
    ]);
  });

  it('is the same whether it was read from the beginning, or its beginning was added later', async () => {
    const rows = (await realRows()).filter(({ type }) => type !== 'model.chunk');
    const whole = readAll(rows);
    for (const cut of rows.keys()) {
      const log = readAll(rows.slice(cut));
      log.prepend(rows.slice(0, cut));
      expect(log.items).toEqual(whole.items);
    }
  });

  it('shows what a step writes while it runs, from its pieces alone', async () => {
    const rows = await realRows();
    const last = rows.findLastIndex(({ type }) => type === 'model.chunk');
    const log = readAll(rows.slice(0, last + 1));
    expect(log.runningStep?.step).toBe(2);
    expect(log.runningStep && log.textOf(log.runningStep)?.text).toBe('Sunny.');
  });

  it('puts sentences between the items that they lie between in the log', () => {
    const item = (seq: number) =>
      ({ kind: 'child', key: `${seq}`, seq, at: 0, depth: 0, childId: 'c', agent: 'a', name: null }) as const;
    const note = (seq: number) =>
      ({ kind: 'note', key: `n${seq}`, seq, at: 0, depth: 0, line: 'x', more: null, tone: 'plain' }) as const;
    const keys = (from: number) =>
      mergeNotes([item(2), item(5)], [note(1), note(3), note(9)], from).map(({ key }) => key);
    expect(keys(1)).toEqual(['n1', '2', 'n3', '5', 'n9']);
    expect(keys(4)).toEqual(['2', '5', 'n9']);
  });
});
