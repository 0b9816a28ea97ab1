/** When streamed text is written to the store. The test fires the timers itself and needs no real clock. */
import { describe, expect, it } from '@jest/globals';
import { ChunkWriter } from '../../src/activities/model/chunk-writer.ts';
import type { AttemptChunk } from '../../src/models/call-model.ts';

const text = (delta: string, attempt: number): AttemptChunk => ({ attempt, kind: 'content', delta });
const thought = (delta: string): AttemptChunk => ({ attempt: 1, kind: 'reasoning', delta });
const call = { callId: 'c1', name: 'add' };
const input = (delta: string): AttemptChunk => ({ attempt: 1, kind: 'input', delta, call });

/** Returns a ChunkWriter whose timers the test fires, and the rows that it has written. */
function writing() {
  const rows: [string | object, number][] = [];
  const pauses: number[] = [];
  let due: () => void = () => undefined;
  const writer = new ChunkWriter(
    async ({ delta, call, reasoning, input }) => void rows.push([delta || (reasoning ?? input ?? ''), call]),
    (work, ms) => {
      pauses.push(ms);
      due = work;
      return {} as NodeJS.Timeout;
    },
  );
  return { writer, rows, pauses, goOff: () => due() };
}

describe('the writer of streamed text', () => {
  it('writes the first token of a request after its burst, and the rest every 50 ms', async () => {
    const { writer, rows, pauses, goOff } = writing();
    writer.push(text('an', 1));
    writer.push(text(' answer', 1));
    expect(pauses).toEqual([4]);
    goOff();
    writer.push(text(' goes on', 1));
    expect(pauses).toHaveLength(2);
    expect(pauses[1]).toBeGreaterThan(4);
    expect(pauses[1]).toBeLessThanOrEqual(50);
    await writer.finish();
    expect(rows).toEqual([
      ['an answer', 1],
      [' goes on', 1],
    ]);
  });

  it('writes texts of two requests as separate rows, the first one at once', async () => {
    const { writer, rows } = writing();
    writer.push(text('cut off', 1));
    writer.push(text('again', 2));
    await writer.finish();
    expect(rows).toEqual([
      ['cut off', 1],
      ['again', 2],
    ]);
  });

  it('writes texts of several kinds as separate rows, in order', async () => {
    const { writer, rows, goOff } = writing();
    for (const delta of ['I ', 'think']) writer.push(thought(delta));
    writer.push(text('So', 1));
    writer.push(input('{"a"'));
    goOff();
    writer.push(thought('again'));
    await writer.finish();
    expect(rows).toEqual([
      ['I think', 1],
      ['So', 1],
      [{ ...call, delta: '{"a"' }, 1],
      ['again', 1],
    ]);
  });

  it('does not write the rest of the arguments of a call when the answer ends', async () => {
    const { writer, rows, goOff } = writing();
    writer.push(input('{"a"'));
    goOff();
    writer.push(input(':1}'));
    await writer.finish();
    expect(rows).toEqual([[{ ...call, delta: '{"a"' }, 1]]);
  });

  it('never splits a character between rows', async () => {
    const { writer, rows, goOff } = writing();
    writer.push(text('a\ud83d', 1));
    goOff();
    writer.push(thought('\ud83d'));
    writer.push(text('\ude00b', 1));
    writer.push(thought('\ude01'));
    writer.push(text('c\ud83d', 1));
    await writer.finish();
    // The half that nothing follows comes with the answer.
    expect(rows).toEqual([
      ['a', 1],
      ['\u{1f600}b', 1],
      ['\u{1f601}', 1],
      ['c', 1],
    ]);
  });
});
