/** A long execution is several traces: the log of real threads, in which a wait is made longer than it was. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { TRACE_PART } from '../../src/core/event/traced-row.ts';
import { SUBAGENT_CREATE } from '../../src/core/project/subagent.ts';
import { defineTool } from '../../src/definitions/index.ts';
import { projectSpans } from '../../src/projections/trace/trace-projection.ts';
import type { TraceState } from '../../src/projections/trace/trace-state.ts';
import { calls, says } from '../../src/testing/index.ts';
import { openTelemetry } from '../../src/worker/telemetry/telemetry.ts';
import { rowsOf } from '../projections/row.ts';
import { attributeOf, drawTree, onceEach } from '../support/otlp-receiver.ts';
import type { TestRuntime } from '../support/runtime.ts';
import { testRuntime } from '../support/runtime.ts';
import { cast, childrenOf, create, familyRegistry, RESUMABLE } from '../support/subagent-project.ts';
import { endTelemetry, openReceiver, startSdk } from '../support/telemetry.ts';

afterEach(endTelemetry);

const send = defineTool({
  description: 'sends',
  args: z.object({ to: z.string() }),
  confirm: true,
  execute: async () => ({ status: 'success', result: 'sent' }),
});

/** A thread that waits for a person, and then for a child. */
async function confirmed() {
  const actors = cast({
    main: [calls('send', { to: 'ada' }), calls(SUBAGENT_CREATE, create('the north')), says('It is cold.')],
    scout_a: [calls('finish', { text: 'snow' })],
  });
  const entries = [{ name: 'scout', ...RESUMABLE }, 'send'];
  const registry = familyRegistry({ cast: actors, entries, tools: { send } });
  const runtime = await testRuntime({ model: actors.model, registry, fresh: true });
  const { client } = runtime;
  const { threadId } = await client.startThread({ agent: 'helper', messages: [{ content: 'Go.' }] });
  await client.waitForIdle(threadId);
  const [wait] = await client.listWaits({ threadId });
  await client.answerWait(String(wait?.id), { approved: true });
  await client.waitForIdle(threadId);
  const [child] = await childrenOf(runtime, threadId);
  return { runtime, registry, thread: threadId, child: child?.threadId as string };
}

/** The spans of these threads, as if the wait had taken `forUs` microseconds longer. */
async function spansOf(
  { runtime: { store }, registry, thread, child }: Awaited<ReturnType<typeof confirmed>>,
  forUs: number,
  traces?: 'execution',
) {
  const log = await store.events.read(thread, 0);
  const answered = log.find(({ type }) => type === 'wait.answered')?.seq ?? 0;
  const received = await openReceiver();
  startSdk(received);
  const read: TestRuntime['store']['traces']['read'] = async (id, known) => {
    const page = await store.traces.read(id, known ?? { seq: 0, state: null });
    const rows = page.rows.map((row) => {
      const late = id === child || row.event.seq >= answered ? forUs : 0;
      const { execution } = row;
      const calledBy = execution?.calledBy && { ...execution.calledBy, isLong: forUs > 0 };
      return {
        ...row,
        event: { ...row.event, at: row.event.at + late },
        ...(execution ? { execution: { ...execution, ...(calledBy ? { calledBy } : {}) } } : {}),
      };
    });
    return { ...page, rows: rows as typeof page.rows };
  };
  const telemetry = openTelemetry({
    store: { ...store, traces: { ...store.traces, read, list: async () => [child, thread] } },
    registry: () => registry,
    ...(traces ? { traces } : {}),
  });
  await telemetry?.catchUp(0);
  await telemetry?.close();
  return onceEach(received.spans);
}

const SECOND_PART = [
  'invoke_agent helper',
  '  chat scripted-1',
  '  chat scripted-1',
  '  execute_tool send',
  '  execute_tool subagent_create',
  '    invoke_agent scout',
  '      chat scripted-1',
  '      execute_tool finish',
];

describe('the parts of an execution', () => {
  it('are a trace before a long wait and one after it, linked both ways, with the child in its call’s', async () => {
    const spans = await spansOf(await confirmed(), TRACE_PART.waitUs);
    expect(drawTree(spans)).toEqual(['invoke_agent helper', '  chat scripted-1', ...SECOND_PART]);
    const [first, second] = spans
      .filter(({ name }) => name === 'invoke_agent helper')
      .sort((a, b) => (a.startTimeUnixNano < b.startTimeUnixNano ? -1 : 1));
    expect(first?.traceId).not.toBe(second?.traceId);
    const idsOf = (span: typeof first) => ({ traceId: span?.traceId, spanId: span?.spanId });
    expect(first?.links).toEqual([expect.objectContaining(idsOf(second))]);
    expect(second?.links).toEqual([expect.objectContaining(idsOf(first))]);
    const parts = [first, second].map((span) => span && attributeOf(span, 'everthread.execution.part'));
    expect(parts).toEqual([1, 2]);
    const threads = [first, second].map((span) => span && attributeOf(span, 'gen_ai.conversation.id'));
    expect(new Set(threads).size).toBe(1);
    const tree = spans.filter(({ traceId }) => traceId === second?.traceId);
    expect(tree).toHaveLength(SECOND_PART.length);
  });

  it.each([
    ['a wait is shorter than an hour', 0, undefined],
    ['the setting says so', TRACE_PART.waitUs, 'execution' as const],
  ])('are one trace if %s', async (_what, forUs, traces) => {
    const spans = await spansOf(await confirmed(), forUs, traces);
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    expect(drawTree(spans).filter((line) => line.startsWith('invoke_agent'))).toHaveLength(1);
  });

  it('end once they have as many spans as a trace may have, while nothing runs', () => {
    const { spans: most } = TRACE_PART;
    const step = (n: number) =>
      [
        ['model.called', { model: 'main', modelId: 'm-1', call: 1 }, { step: n }],
        ['model.failed', { call: 1 }, { step: n }],
      ] as const;
    const rows = rowsOf(
      ['execution.started', { executionId: 'e' }],
      ...Array.from({ length: most + 1 }, (_, n) => step(n + 1)).flat(),
      ['execution.ended', { executionId: 'e', reason: 'done' }],
    );
    let state: TraceState = { threadId: 't', execution: null };
    const counts = new Map<string, number>();
    for (const row of rows) {
      const [next, spans] = projectSpans(state, row as never, { factoryOf: () => undefined });
      state = next;
      for (const { trace } of spans) counts.set(trace, (counts.get(trace) ?? 0) + 1);
    }
    // Each with its own `invoke_agent`.
    expect([...counts.values()]).toEqual([most + 1, 2]);
  });
});

describe('the span of a call', () => {
  it('ends when the call has, also if its result is stored later', () => {
    const call = { name: 'look', callId: 'c' };
    // Between the rows of its beginning and of its result.
    const ENDED = 1_700_000_000_001_500;
    const rows = rowsOf(
      ['execution.started', { executionId: 'e' }],
      ['tool.started', call, { step: 1 }],
      ['tool.result', { ...call, status: 'success', endedAt: ENDED }, { step: 1 }],
    );
    let state: TraceState = { threadId: 't', execution: null };
    const ended = rows.flatMap((row) => {
      const [next, spans] = projectSpans(state, row as never, { factoryOf: () => undefined });
      state = next;
      return spans.map(({ name, endedAt }) => [name, endedAt]);
    });
    expect(ended).toEqual([['execute_tool look', ENDED]]);
  });
});
