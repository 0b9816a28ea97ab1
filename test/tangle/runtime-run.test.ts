/** The row of a run, its cost, and the telemetry of it. */
import { describe, expect, it } from '@jest/globals';
import {
  createTelemetry,
  type RunRow,
  type RuntimeRunOptions,
  startRuntimeRun,
} from '../../src/faces/tangle/index.ts';

const call = (data: object, id?: string) => ({ type: 'llm_call', data, ...(id === undefined ? {} : { id }) });

async function started(more: Partial<RuntimeRunOptions> = {}) {
  let time = 1_700_000_000_000;
  const rows: RunRow[] = [];
  const adapter = { upsertRun: (row: RunRow) => void rows.push(row) };
  const now = () => (time += 1000);
  const run = startRuntimeRun({
    workspaceId: 'acme',
    taskSpec: { id: 'review' },
    adapter,
    now,
    ...more,
  });
  await run.started;
  return { run, rows };
}

describe('the row of a run', () => {
  it('exists from the start, and has its end and cost once persisted', async () => {
    const { run, rows } = await started({ id: 'tax:s:0', sessionId: 's' });
    expect(rows).toMatchObject([{ id: 'tax:s:0', status: 'running', cost: { llmCalls: 0 }, sessionId: 's' }]);
    run.observe(call({ tokensIn: 1200, tokensOut: 280, costUsd: 0.0041 }));
    run.observe(call({ tokensIn: 600, tokensOut: 110, costUsd: 0.002 }));
    run.complete({ status: 'completed', resultSummary: 'Reviewed.', metadata: { a: 1 } });
    await run.persist({ b: 2 });
    expect(rows).toHaveLength(2);
    expect(rows[1]).toMatchObject({
      status: 'completed',
      resultSummary: 'Reviewed.',
      cost: { tokensIn: 1800, tokensOut: 390, costUsd: 0.0061, llmCalls: 2 },
      metadata: { a: 1, b: 2 },
      completedAt: expect.any(String),
    });
    expect(run.cost().wallMs).toBe(rows[1]?.cost.wallMs);
  });

  it('[TG-29] counts model calls only, each once, and ignores invalid numbers', async () => {
    const { run } = await started();
    run.observe({ type: 'text_delta', data: { tokensIn: 5 } });
    run.observe(call({ tokensIn: Number.NaN, tokensOut: Number.POSITIVE_INFINITY, costUsd: '3' }));
    run.observe(call({ tokensIn: 7 }, '12.0'));
    // The same call again, as a reader that came back receives it.
    run.observe(call({ tokensIn: 7 }, '12.0'));
    // The event in the form in which a backend emits it.
    run.observe({ type: 'llm_call', tokensIn: 1, costUsd: 0.1 } as never);
    run.observe(call({ costUsd: 0.2 }));
    expect(run.cost()).toMatchObject({ tokensIn: 8, tokensOut: 0, costUsd: 0.3, llmCalls: 4 });
    run.complete({ status: 'failed', error: 'gone', cost: { costUsd: 1 } });
    expect(run.toRow()).toMatchObject({ error: 'gone', cost: { costUsd: 1, tokensIn: 8 } });
  });

  it('[TG-30] ends once: repeating the end changes nothing, another end and an early persist are refused', async () => {
    const { run, rows } = await started();
    await expect(run.persist()).rejects.toThrow('has not ended');
    run.complete({ status: 'cancelled', resultSummary: 'first' });
    run.complete({ status: 'cancelled', resultSummary: 'second' });
    expect(run.toRow()).toMatchObject({ status: 'cancelled', resultSummary: 'first' });
    expect(() => run.complete({ status: 'completed' })).toThrow(
      expect.objectContaining({ code: 'InvalidValue' }),
    );
    const other = await started();
    expect(() => other.run.complete({ status: 'running' as never })).toThrow('cannot end');
    expect(rows).toHaveLength(1);
    await expect(started({ workspaceId: ' ' })).rejects.toMatchObject({ code: 'InvalidValue' });
    await expect(started({ taskSpec: { id: '' } })).rejects.toMatchObject({ code: 'InvalidValue' });
  });

  it('is not stored without an adapter; errors of the adapter are thrown', async () => {
    const { run } = await started({ adapter: undefined } as never);
    run.complete({ status: 'completed' });
    await run.persist();
    const upsertRun = () => Promise.reject(new Error('no table'));
    await expect(started({ adapter: { upsertRun } })).rejects.toThrow('no table');
  });

  it('[TG-29] is returned before its row is written; its last row is never overtaken by the first', async () => {
    const written: string[] = [];
    const first = Promise.withResolvers<void>();
    const run = startRuntimeRun({
      workspaceId: 'acme',
      taskSpec: { id: 'review' },
      adapter: {
        async upsertRun({ status }) {
          if (status === 'running') await first.promise;
          written.push(status);
        },
      },
    });
    run.observe(call({ tokensIn: 3 }));
    run.complete({ status: 'completed' });
    const persisted = run.persist();
    expect([run.cost().tokensIn, written]).toEqual([3, []]);
    first.resolve();
    await persisted;
    expect(written).toEqual(['running', 'completed']);
  });
});

describe('telemetry', () => {
  it('[TG-32] contains no text, argument, result, address, content or title unless configured', () => {
    const secret = 'user@example.com';
    const events = [
      { type: 'execution.started', data: { executionId: 'e', sessionId: 's' } },
      { type: 'message.part.updated', data: { delta: secret, part: { text: secret } } },
      { type: 'text_delta', text: secret },
      { type: 'tool_call', data: { toolName: 'pay', args: { iban: secret } } },
      { type: 'tool_result', data: { toolName: 'pay', result: secret, isError: false } },
      {
        type: 'artifact',
        data: { artifactId: secret, uri: secret, content: secret, mimeType: 'text/plain' },
      },
      { type: 'proposal_created', proposalId: 'p', title: secret },
      { type: 'input.required', data: { waitId: 'w', question: secret, kind: { of: secret } } },
      { type: 'error', data: { message: secret, code: 'BackendFailed' } },
      { type: 'result', data: { finalText: secret } },
      { type: 'llm_call', data: { model: 'm', tokensIn: 1 } },
      { type: 'execution.completed', data: { executionId: 'e' } },
    ];
    const telemetry = createTelemetry();
    const told = events.map((event) => telemetry.observe(event));
    expect(JSON.stringify(told)).not.toContain(secret);
    expect(told[3]).toEqual({ type: 'tool_call', toolName: 'pay' });
    expect(told[10]).toEqual({ type: 'llm_call', model: 'm', tokensIn: 1 });
    expect(telemetry.summary()).toMatchObject({
      finalStatus: 'completed',
      eventCountsByType: { tool_call: 1, llm_call: 1 },
    });
    expect(createTelemetry({ include: ['args'] }).observe(events[3] as never)).toEqual({
      type: 'tool_call',
      toolName: 'pay',
      args: { iban: secret },
    });
  });
});
