/** Metrics of real threads, read by the metric reader of OpenTelemetry's own SDK. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { metrics } from '@opentelemetry/api';
import { metrics as sdk } from '@opentelemetry/sdk-node';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, fails, says, scriptedModel } from '../../src/testing/index.ts';
import { openOtelSink } from '../../src/worker/metrics/otel-sink.ts';
import { eventually, testRuntime } from '../support/runtime.ts';

interface Point {
  readonly labels: Readonly<Record<string, unknown>>;
  /** Sum of a counter, number of observations of a histogram. */
  readonly count: number;
  readonly sum: number;
  readonly boundaries?: readonly number[];
}

interface Collected {
  /** Units by names. */
  readonly units: Readonly<Record<string, string>>;
  points(name: string): readonly Point[];
}

let provider: sdk.MeterProvider | undefined;
const saved = { ...process.env };

afterEach(async () => {
  await provider?.shutdown();
  provider = undefined;
  metrics.disable();
  process.env = { ...saved };
});

/** Registers an SDK; returns what collects from it, as an exporter does. */
function startSdk(): () => Promise<Collected> {
  const exporter = new sdk.InMemoryMetricExporter(sdk.AggregationTemporality.CUMULATIVE);
  const reader = new sdk.PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  provider = new sdk.MeterProvider({ readers: [reader] });
  metrics.setGlobalMeterProvider(provider);
  return async () => {
    const { resourceMetrics, errors } = await reader.collect();
    expect(errors).toEqual([]);
    const found = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
    return {
      units: Object.fromEntries(found.map(({ descriptor }) => [descriptor.name, descriptor.unit])),
      points: (name) =>
        found
          .filter(({ descriptor }) => descriptor.name === name)
          .flatMap(({ dataPoints }): Point[] =>
            dataPoints.map(({ attributes: labels, value }) => {
              if (typeof value === 'number') return { labels, count: value, sum: value };
              const { count, sum = 0 } = value;
              return 'buckets' in value
                ? { labels, count, sum, boundaries: value.buckets.boundaries }
                : { labels, count, sum };
            }),
          ),
    };
  };
}

const CHAT = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.provider.name': expect.any(String),
  'gen_ai.request.model': 'scripted-1',
};
const USAGE = {
  promptTokens: 100,
  completionTokens: 20,
  totalTokens: 120,
  cachedTokens: 60,
  reasoningTokens: 5,
};
const keep = defineTool({ description: 'Keeps.', execute: () => ({ status: 'success', result: 'kept' }) });
const lose = defineTool({ description: 'Loses.', execute: () => ({ status: 'error', error: 'lost' }) });

const twoTurns = () =>
  scriptedModel([
    calls('keep', {}),
    calls('lose', {}),
    { ...says('It is done.', { chunks: 3 }), usage: USAGE },
    fails({ status: 400, message: 'no' }),
  ]);

describe("the conventions' metrics of threads", () => {
  it('have their names, units and boundaries, and no label of a thread or a user', async () => {
    const collect = startSdk();
    const runtime = await testRuntime({ model: twoTurns(), tools: { keep, lose }, fresh: true });
    const thread = await runtime.start('Do it.');
    await runtime.say(thread, 'And this.').catch(() => undefined);
    const { units, points } = await eventually('both executions', async () => {
      const collected = await collect();
      const ended = collected.points('gen_ai.invoke_agent.duration');
      return ended.reduce((all, { count }) => all + count, 0) === 2 && collected;
    });
    expect(units).toEqual({
      'gen_ai.client.inference.duration': 's',
      'gen_ai.client.inference.time_to_first_chunk': 's',
      'gen_ai.client.inference.operation.input_tokens': '{token}',
      'gen_ai.client.inference.operation.output_tokens': '{token}',
      'gen_ai.client.inference.usage.input_tokens': '{token}',
      'gen_ai.client.inference.usage.output_tokens': '{token}',
      'gen_ai.client.inference.usage.cache_read.input_tokens': '{token}',
      'gen_ai.client.inference.usage.reasoning.output_tokens': '{token}',
      'gen_ai.execute_tool.duration': 's',
      'gen_ai.invoke_agent.duration': 's',
    });
    const labels = Object.keys(units).flatMap((name) =>
      points(name).flatMap((point) => Object.keys(point.labels)),
    );
    expect([...new Set(labels)].toSorted()).toEqual([
      'error.type',
      'gen_ai.agent.name',
      'gen_ai.operation.name',
      'gen_ai.provider.name',
      'gen_ai.request.model',
      'gen_ai.token.modality',
      'gen_ai.tool.name',
      'gen_ai.tool.type',
    ]);
    const doubling = (from: number, count: number) =>
      Array.from({ length: count }, (_, n) => Number((from * 2 ** n).toFixed(2)));
    const requests = points('gen_ai.client.inference.duration');
    expect(requests.map(({ labels, count }) => ({ labels, count }))).toEqual([
      { labels: CHAT, count: 3 },
      { labels: { ...CHAT, 'error.type': expect.stringMatching(/^\w+$/) }, count: 1 },
    ]);
    expect(requests[0]?.boundaries).toEqual(doubling(0.01, 14));
    expect(points('gen_ai.client.inference.time_to_first_chunk')).toMatchObject([
      { labels: CHAT, boundaries: doubling(0.01, 14) },
    ]);
    const boundaries = Array.from({ length: 14 }, (_, n) => 4 ** n);
    expect(points('gen_ai.client.inference.operation.input_tokens')).toMatchObject([
      { labels: CHAT, count: 3, boundaries },
    ]);
    const record = await runtime.store.threads.get(thread);
    const sums = { ...CHAT, 'gen_ai.token.modality': 'unknown' };
    expect(points('gen_ai.client.inference.usage.input_tokens')).toMatchObject([
      { labels: sums, sum: record?.inputTokens },
    ]);
    expect(points('gen_ai.client.inference.usage.output_tokens')).toMatchObject([
      { labels: sums, sum: record?.outputTokens },
    ]);
    expect(points('gen_ai.client.inference.usage.cache_read.input_tokens')).toMatchObject([{ sum: 60 }]);
    expect(points('gen_ai.client.inference.usage.reasoning.output_tokens')).toMatchObject([{ sum: 5 }]);
    const tool = { 'gen_ai.tool.type': 'function', 'gen_ai.agent.name': 'helper' };
    expect(points('gen_ai.execute_tool.duration')).toMatchObject([
      { labels: { ...tool, 'gen_ai.tool.name': 'keep' }, count: 1, boundaries: doubling(0.01, 14) },
      { labels: { ...tool, 'gen_ai.tool.name': 'lose', 'error.type': 'ToolError' }, count: 1 },
    ]);
    const executions = points('gen_ai.invoke_agent.duration');
    expect(executions).toMatchObject([
      { labels: { 'gen_ai.agent.name': 'helper' }, count: 1, boundaries: doubling(0.1, 13) },
      { labels: { 'gen_ai.agent.name': 'helper', 'error.type': expect.stringMatching(/^\w+$/) }, count: 1 },
    ]);
    const records = await runtime.store.executions.list({ threadId: thread });
    const lasted = records.reduce((all, { startedAt, endedAt }) => all + ((endedAt ?? 0) - startedAt), 0);
    expect(executions.reduce((all, { sum }) => all + sum, 0)).toBeCloseTo(lasted / 1_000_000, 5);
  });

  it('have the names of the conventions 1.41 as well if that is asked for', async () => {
    process.env.OTEL_SEMCONV_STABILITY_OPT_IN = 'http, gen_ai/dup';
    const collect = startSdk();
    const model = scriptedModel([{ ...says('Hello.', { chunks: 2 }), usage: USAGE }]);
    const runtime = await testRuntime({ model, fresh: true });
    await runtime.start('Hi.');
    const { points } = await collect();
    const tokens = points('gen_ai.client.token.usage');
    expect(tokens).toMatchObject([
      { labels: { ...CHAT, 'gen_ai.token.type': 'input' }, sum: 100 },
      { labels: { ...CHAT, 'gen_ai.token.type': 'output' }, sum: 20 },
    ]);
    const names = ['duration', 'time_to_first_chunk'];
    for (const name of names)
      expect(points(`gen_ai.client.operation.${name}`)).toEqual(points(`gen_ai.client.inference.${name}`));
  });

  it('are exported when the worker ends', async () => {
    const exporter = new sdk.InMemoryMetricExporter(sdk.AggregationTemporality.CUMULATIVE);
    const reader = new sdk.PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
    provider = new sdk.MeterProvider({ readers: [reader] });
    metrics.setGlobalMeterProvider(provider);
    const runtime = await testRuntime({ model: scriptedModel([says('Hello.')]), fresh: true });
    await runtime.start('Hi.');
    expect(exporter.getMetrics()).toEqual([]);
    await runtime.stopWorker();
    const names = exporter
      .getMetrics()
      .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics))
      .map(({ descriptor }) => descriptor.name);
    expect(names).toContain('gen_ai.client.inference.duration');
  });

  it('do not exist if no SDK is registered', () => {
    const ports = { factoryOf: () => undefined, startedAt: async () => undefined };
    expect(openOtelSink(ports)).toBeUndefined();
    startSdk();
    expect(openOtelSink(ports)).toBeDefined();
  });
});
