/** When streamed text is written to the store. The test fires the timers itself and needs no real clock. */
import { describe, expect, it } from '@jest/globals';
import { ChunkWriter } from '../../src/activities/model/chunk-writer.ts';

/** Returns a ChunkWriter whose timers the test fires, and the rows that it has written. */
function writing() {
  const rows: [string, number][] = [];
  const pauses: number[] = [];
  let due: () => void = () => undefined;
  const writer = new ChunkWriter(
    async (delta, call) => void rows.push([delta, call]),
    (work, ms) => {
      pauses.push(ms);
      due = work;
      return {} as NodeJS.Timeout;
    },
  );
  return { writer, rows, pauses, goOff: () => due() };
}

describe('streamed text on its way to the log', () => {
  it('the first token of a request waits for its burst alone, and what follows at once for the rest of 50 ms', async () => {
    const { writer, rows, pauses, goOff } = writing();
    writer.push('an', 1);
    writer.push(' answer', 1);
    expect(pauses).toEqual([4]);
    goOff();
    writer.push(' goes on', 1);
    expect(pauses).toHaveLength(2);
    expect(pauses[1]).toBeGreaterThan(4);
    expect(pauses[1]).toBeLessThanOrEqual(50);
    await writer.finish();
    expect(rows).toEqual([
      ['an answer', 1],
      [' goes on', 1],
    ]);
  });

  it('texts of two requests are rows of their own, the first one at once', async () => {
    const { writer, rows } = writing();
    writer.push('cut off', 1);
    writer.push('again', 2);
    await writer.finish();
    expect(rows).toEqual([
      ['cut off', 1],
      ['again', 2],
    ]);
  });
});
