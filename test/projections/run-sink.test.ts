/** Sinks and traces receive the events of the log; their failures affect nothing else. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { feedSink, InMemoryEventSink, type SinkEnd } from '../../src/client/event-sink.ts';
import { LocalTraceTelemetry } from '../../src/client/local-trace.ts';
import type { Projected } from '../../src/projections/projection.ts';
import type { RunEvent } from '../../src/projections/run/run-event.ts';
import { NO_TRACE, projectTrace } from '../../src/projections/run/run-trace.ts';
import { read, rowsOf } from './row.ts';

const EVENTS = read(
  rowsOf(
    ['execution.started', { executionId: 'execution-1' }],
    ['step.started', { items: 1 }, { step: 1 }],
    ['model.called', { model: 'main', modelId: 'm-1', call: 1 }, { step: 1 }],
    ['model.failed', { call: 1, message: 'busy', retryInMs: 5 }, { step: 1 }],
    ['model.called', { model: 'main', modelId: 'm-1', call: 2 }, { step: 1 }],
    ['model.answered', { call: 2, usage: null, cost: null }, { step: 1 }],
    ['tool.called', { name: 'pay', callId: 'c1' }, { step: 1 }],
    ['tool.started', { name: 'pay', callId: 'c1' }, { step: 1 }],
    ['execution.ended', { executionId: 'execution-1', reason: 'Stopped by user', status: 'stopped' }],
  ),
);

async function* tell(): AsyncGenerator<Projected<RunEvent>> {
  for (const [n, event] of EVENTS.entries()) yield { cursor: `${n}.0`, event };
}

describe('a sink', () => {
  it('gets each event in order, and a call at the end', async () => {
    const sink = new InMemoryEventSink();
    expect(await feedSink(tell(), sink)).toEqual({ why: 'over', cursor: `${EVENTS.length - 1}.0` });
    expect(sink.toList()).toEqual(EVENTS);
    sink.clear();
    sink.emit({ ...(EVENTS[0] as RunEvent), sequence: null });
    expect(sink.events.map(({ sequence }) => sequence)).toEqual([1]);
  });

  it('[PL-22] that throws is reported and detached, with the cursor reached', async () => {
    const told: SinkEnd[] = [];
    const end = await feedSink(tell(), {
      emit: ({ sequence }) => {
        if (sequence === 3) throw new Error('full');
      },
      detached: (why) => {
        told.push(why);
        throw new Error('still full');
      },
    });
    expect(end).toMatchObject({ why: 'failed', cursor: '1.0', error: { message: 'full' } });
    expect(told).toEqual([end]);
  });

  it('[PL-22] that never answers is detached after its timeout', async () => {
    const end = await feedSink(tell(), { emit: () => new Promise(() => undefined) }, { withinMs: 1 });
    expect(end).toMatchObject({ why: 'slow', cursor: null, error: { code: 'Timeout' } });
  });
});

describe('a local trace', () => {
  it('has spans of the run, its requests and its actions, the same at each projection', async () => {
    const path = join(process.env.EVERTHREAD_TEST_FOLDER as string, `trace-${process.hrtime.bigint()}.jsonl`);
    await feedSink(tell(), new LocalTraceTelemetry({ path }));
    const spans = readFileSync(path, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const run = spans.at(-1);
    expect(
      spans.map(({ kind, name, status, parent_span_id: parent }) => [kind, name, status, parent]),
    ).toEqual([
      ['llm', 'main', 'error', run.span_id],
      ['llm', 'main', 'ok', run.span_id],
      ['action', 'pay', 'canceled', run.span_id],
      ['run', 'run desk', 'canceled', null],
    ]);
    expect(run).toMatchObject({ run_id: 'execution-1', duration_ms: 8 });
    expect(spans.map(({ trace_id: id }) => id)).toEqual(spans.map(() => EVENTS[0]?.metadata.trace_id));
    expect(run.trace_id).toMatch(/^[0-9a-f]{32}$/);
    expect(new Set(spans.map(({ span_id: id }) => id)).size).toBe(4);
    await feedSink(tell(), new LocalTraceTelemetry({ path }));
    const lines = readFileSync(path, 'utf8').trim().split('\n');
    expect(lines.slice(4)).toEqual(lines.slice(0, 4));
  });

  it('does not end the request of an attempt with the late answer of the lost one', () => {
    const asked = (attempt: number) =>
      ['model.called', { model: 'main', modelId: 'm-1', call: 1 }, { step: 1, attempt }] as const;
    const answered = (attempt: number) =>
      ['model.answered', { call: 1, usage: null, cost: null }, { step: 1, attempt }] as const;
    const events = read(
      rowsOf(
        ['execution.started', { executionId: 'execution-1' }],
        asked(1),
        ['step.retried', { reason: 'The worker was lost.' }, { step: 1, attempt: 2 }],
        asked(2),
        answered(1),
        answered(2),
      ),
    );
    let reading = NO_TRACE;
    const spans = events.flatMap((event) => {
      const [next, ended] = projectTrace(reading, event);
      reading = next;
      return ended;
    });
    expect(spans.map(({ status, duration_ms: ms }) => [status, ms])).toEqual([
      ['error', 1],
      ['ok', 2],
    ]);
    expect(new Set(spans.map(({ span_id: id }) => id)).size).toBe(2);
  });
});
