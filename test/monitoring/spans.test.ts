/** How many spans an OpenTelemetry SDK has exported, as a worker counts them. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { trace } from '@opentelemetry/api';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { says, scriptedModel } from '../../src/testing/index.ts';
import { openTelemetry } from '../../src/worker/telemetry/telemetry.ts';
import { receiveOtlp } from '../support/otlp-receiver.ts';
import { closeAfterTest, eventually, helperRegistry, testRuntime } from '../support/runtime.ts';
import { readScraped } from '../support/scrape.ts';

const saved = { ...process.env };
let sdk: NodeSDK | undefined;

afterEach(async () => {
  await sdk?.shutdown().catch(() => undefined);
  sdk = undefined;
  trace.disable();
  process.env = { ...saved };
});

describe('spans that were given to an SDK', () => {
  it.each([
    ['exported', 'takes them', 200],
    ['dropped', 'refuses them', 400],
  ])('count as %s if the receiver %s', async (outcome, _what, status) => {
    const received = await receiveOtlp((response) => void response.writeHead(status).end('{}'));
    closeAfterTest(received.close);
    process.env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT = received.url;
    process.env.OTEL_METRICS_EXPORTER = 'none';
    process.env.OTEL_LOGS_EXPORTER = 'none';
    sdk = new NodeSDK({ autoDetectResources: false });
    sdk.start();
    const runtime = await testRuntime({ model: scriptedModel([says('Hello.')]), fresh: true });
    await runtime.start('Hi.');
    await eventually('both spans are counted', async () => {
      const { value } = readScraped(await runtime.worker.metrics());
      return value('everthread_spans_total', { outcome }) === 2;
    });
    const other = outcome === 'exported' ? 'dropped' : 'exported';
    expect(
      readScraped(await runtime.worker.metrics()).value('everthread_spans_total', { outcome: other }),
    ).toBe(0);
  });

  it('do not count if they are sampled out', async () => {
    const received = await receiveOtlp();
    closeAfterTest(received.close);
    process.env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT = received.url;
    process.env.OTEL_METRICS_EXPORTER = 'none';
    process.env.OTEL_TRACES_SAMPLER = 'always_off';
    sdk = new NodeSDK({ autoDetectResources: false });
    sdk.start();
    const model = scriptedModel([says('Hello.')]);
    const registry = helperRegistry({ model });
    const runtime = await testRuntime({ model, registry, fresh: true });
    const thread = await runtime.start('Hi.');
    const counted: number[] = [];
    const { store } = runtime;
    const telemetry = openTelemetry({
      store: { ...store, traces: { ...store.traces, list: async () => [thread] } },
      registry: () => registry,
      countSpans: (_outcome, count) => counted.push(count),
    });
    await telemetry?.catchUp(0);
    await telemetry?.close();
    expect(counted.every((count) => count === 0)).toBe(true);
  });
});
