/** While a model is asked or a tool runs, the span of that work is OpenTelemetry's active one. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from '@jest/globals';
import { trace } from '@opentelemetry/api';
import { createLogListener } from '../../src/cli/output/log-listener.ts';
import { type Provider, ProviderError } from '../../src/core/message/provider.ts';
import { defineMcpServer, defineTool } from '../../src/definitions/index.ts';
import { aiSdk, boundedFetch } from '../../src/models/index.ts';
import { closeConnections } from '../../src/remote/mcp/index.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { activeTraceparent } from '../../src/traceparent.ts';
import { attributeOf, type OtlpSpan, onceEach } from '../support/otlp-receiver.ts';
import { closeAfterTest, eventually, logged, testRuntime } from '../support/runtime.ts';
import { endTelemetry, openReceiver, rootsOf, startSdk } from '../support/telemetry.ts';

afterEach(endTelemetry);
afterEach(closeConnections);

const named = (spans: readonly OtlpSpan[], name: string) =>
  spans.filter((span) => span.name === name).map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`);

/** Keeps the headers of its requests. */
async function openServer() {
  const headers: IncomingHttpHeaders[] = [];
  const server = createServer(async (request, response) => {
    headers.push(request.headers);
    await text(request);
    response.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closeAfterTest(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return { headers, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

describe('the span of running work', () => {
  it('is the parent of what a tool traces, and of what its server is asked, and is in the log', async () => {
    const received = await openReceiver();
    startSdk(received);
    const seen: (string | undefined)[] = [];
    const look = defineTool({
      description: 'Looks.',
      execute: async () => {
        seen.push(activeTraceparent());
        await trace.getTracer('mine').startActiveSpan('own work', async (span) => {
          await Promise.resolve();
          seen.push(activeTraceparent());
          span.end();
        });
        return { status: 'success', result: 'seen' };
      },
    });
    const server = defineMcpServer({
      command: process.execPath,
      args: [join(import.meta.dirname, '../mcp/plain-server.mjs')],
    });
    const lines: Readonly<Record<string, unknown>>[] = [];
    const runtime = await testRuntime({
      listener: createLogListener({ log: (_level, message, fields) => lines.push({ message, ...fields }) }),
      model: scriptedModel([calls('look', {}), calls('mcp__plain__meta', {}), says('Done.')]),
      tools: { look },
      mcpServers: { plain: server },
      prompt: { tools: ['look', 'mcp:plain/meta'] },
      fresh: true,
    });
    const thread = await runtime.start('Look.');
    await eventually('the root span', async () => rootsOf(received).length === 1);
    const spans = onceEach(received.spans);
    expect(seen).toEqual([...named(spans, 'execute_tool look'), ...named(spans, 'own work')]);
    const own = spans.find(({ name }) => name === 'own work');
    expect(own?.parentSpanId).toBe(spans.find(({ name }) => name === 'execute_tool look')?.spanId);
    const [line] = lines.filter(({ message }) => String(message).startsWith('tool look: success'));
    expect(`00-${line?.trace_id}-${line?.span_id}-01`).toBe(seen[0]);
    const methods = spans.map((span) => [span.name, attributeOf(span, 'mcp.method.name')]);
    expect(methods).toContainEqual(['execute_tool mcp__plain__meta', 'tools/call']);
    expect(methods).toContainEqual(['execute_tool look', undefined]);
    const [traceparent] = named(spans, 'execute_tool mcp__plain__meta');
    const result = (await runtime.transcript(thread)).find((line) => line.includes('meta success'));
    expect(result).toContain(JSON.stringify({ traceparent }).slice(1, -1));
    expect(result).not.toMatch(/tracestate|baggage/);
  });

  it('goes out with each request to a model, in its header alone, and with a line of the log', async () => {
    const received = await openReceiver();
    startSdk(received);
    const { url, headers } = await openServer();
    let asked = 0;
    const provider: Provider = {
      name: 'own',
      specificationVersion: '1',
      generate: async () => {
        await boundedFetch(new Request(url, { headers: { 'x-own': 'kept' } }));
        asked += 1;
        if (asked === 1) throw new TypeError('broken');
        return { content: 'Hello.', finishReason: 'stop' } as never;
      },
      stream: () => Promise.reject(new ProviderError('It does not stream.', 'invalid_request')),
      getModelCapabilities: async () => ({ supportsStreaming: false }) as never,
    };
    const runtime = await testRuntime({
      model: { provider: () => provider, remaining: Number.POSITIVE_INFINITY } as never,
      fresh: true,
    });
    await runtime.start('Hi.');
    await eventually('the root span', async () => rootsOf(received).length === 1);
    const spans = onceEach(received.spans);
    const chats = named(spans, 'chat scripted-1');
    expect(headers.map(({ traceparent }) => traceparent)).toEqual(chats);
    expect(chats).toHaveLength(2);
    expect(headers.map((each) => [each['x-own'], each.tracestate, each.baggage])).toEqual(
      chats.map(() => ['kept', undefined, undefined]),
    );
    const [line] = logged.map(({ fields }) => fields as Readonly<Record<string, unknown>>);
    expect(`00-${line?.trace_id}-${line?.span_id}-01`).toBe(chats[0]);
  });

  it('goes out with a request of an AI SDK provider', async () => {
    const received = await openReceiver();
    startSdk(received);
    const given: unknown[] = [];
    const model = {
      specificationVersion: 'v3',
      provider: 'own.chat',
      modelId: 'one',
      doGenerate: async ({ headers }: { readonly headers?: object }) => {
        given.push(headers);
        return { content: [{ type: 'text', text: 'Hello.' }], finishReason: 'stop', usage: {} };
      },
      doStream: () => Promise.reject(new Error('It does not stream.')),
    };
    const runtime = await testRuntime({
      model: { provider: aiSdk(() => model as never), remaining: Number.POSITIVE_INFINITY } as never,
      fresh: true,
    });
    await runtime.start('Hi.');
    await eventually('the root span', async () => rootsOf(received).length === 1);
    const chats = named(onceEach(received.spans), 'chat scripted-1');
    expect(given).toContainEqual({ traceparent: chats.at(-1) });
  });

  it('is absent without an SDK', async () => {
    const seen: unknown[] = [];
    const look = defineTool({
      description: 'Looks.',
      execute: async () => {
        seen.push(activeTraceparent());
        return { status: 'success', result: 'seen' };
      },
    });
    const { url, headers } = await openServer();
    await boundedFetch(url);
    const runtime = await testRuntime({
      model: scriptedModel([calls('look', {}), says('Done.')]),
      tools: { look },
    });
    await runtime.start('Look.');
    expect([seen, headers[0]?.traceparent]).toEqual([[undefined], undefined]);
  });
});
