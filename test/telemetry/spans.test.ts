/** Spans of real threads, exported by OpenTelemetry's own SDK to a receiver in this process. */
import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { SUBAGENT_CREATE } from '../../src/core/project/subagent.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { openTelemetry } from '../../src/worker/telemetry/telemetry.ts';
import { attributeOf, drawTree, onceEach, receiveOtlp } from '../support/otlp-receiver.ts';
import { closeAfterTest, eventually, helperRegistry, testRuntime } from '../support/runtime.ts';
import { cast, childrenOf, create, familyRuntime, RESUMABLE } from '../support/subagent-project.ts';
import { endTelemetry, openReceiver, rootsOf, startSdk } from '../support/telemetry.ts';

afterEach(endTelemetry);

describe('spans of a thread', () => {
  it('form one tree for each execution, whose sums are those of the store', async () => {
    const received = await openReceiver();
    startSdk(received);
    const actors = cast({
      main: [
        calls(SUBAGENT_CREATE, create('the north')),
        calls('keep', { name: 'north.txt' }),
        says('It is cold.'),
      ],
      scout_a: [says('I look.'), calls('finish', { text: 'snow' })],
      scout_b: [says('Go on.')],
    });
    const runtime = await familyRuntime({
      cast: actors,
      entries: [{ name: 'scout', ...RESUMABLE }],
      runtime: { fresh: true },
    });
    const thread = await runtime.start('How is the north?');
    await eventually('the root span', async () => rootsOf(received).length === 1);
    const spans = onceEach(received.spans);
    expect(drawTree(spans)).toEqual([
      'invoke_agent helper',
      '  chat scripted-1',
      '  chat scripted-1',
      '  chat scripted-1',
      '  execute_tool keep',
      '  execute_tool subagent_create',
      '    invoke_agent scout',
      '      chat scripted-1',
      '      chat scripted-1',
      '      chat scripted-1',
      '      execute_tool finish',
    ]);
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    const [child] = await childrenOf(runtime, thread);
    const chats = spans.filter(({ name }) => name.startsWith('chat '));
    let [input, output] = [0, 0];
    for (const id of [thread, child?.threadId as string]) {
      const record = await runtime.store.threads.get(id);
      input += record?.inputTokens ?? 0;
      output += record?.outputTokens ?? 0;
    }
    const sum = (name: string) => chats.reduce((all, span) => all + (attributeOf(span, name) as number), 0);
    expect([sum('gen_ai.usage.input_tokens'), sum('gen_ai.usage.output_tokens')]).toEqual([input, output]);
    expect(input).toBeGreaterThan(0);
  });

  it('have the ids that RunEvents have, also those of a child that is waited for', async () => {
    const received = await openReceiver();
    startSdk(received);
    const runtime = await familyRuntime({
      cast: cast({
        main: [calls(SUBAGENT_CREATE, create('the north')), says('It is cold.')],
        scout_a: [calls('finish', { text: 'snow' })],
      }),
      entries: [{ name: 'scout', ...RESUMABLE }],
      runtime: { fresh: true },
    });
    const thread = await runtime.start('How is the north?');
    await eventually('the root span', async () => rootsOf(received).length === 1);
    const [child] = await childrenOf(runtime, thread);
    const told = new Map<string | null, unknown>();
    for (const id of [thread, child?.threadId as string])
      for await (const { event } of runtime.client.events(id, { as: 'run', follow: false }))
        told.set(event.span_id, `${event.metadata.trace_id} ${event.parent_span_id ?? ''}`);
    const spans = onceEach(received.spans);
    expect(spans.map(({ spanId }) => told.get(spanId))).toEqual(
      spans.map(({ traceId, parentSpanId = '' }) => `${traceId} ${parentSpanId}`),
    );
    expect(spans).toHaveLength(7);
  });

  it('end with an answer that was rejected, as with one that was stored', async () => {
    const received = await openReceiver();
    startSdk(received);
    const model = scriptedModel([says('Warm.'), says('{"degrees":21}')]);
    const side = { output: z.object({ degrees: z.number() }) };
    const runtime = await testRuntime({ model, side, fresh: true });
    await runtime.start('How warm is it?');
    await eventually('the root span', async () => rootsOf(received).length === 1);
    const chats = onceEach(received.spans).filter(({ name }) => name.startsWith('chat '));
    expect(chats.map((span) => attributeOf(span, 'gen_ai.response.finish_reasons'))).toEqual([
      ['stop'],
      ['stop'],
    ]);
  });

  it('are the same bytes when they are given out again', async () => {
    const received = await openReceiver();
    startSdk(received);
    const model = scriptedModel([says('Hello.')]);
    const registry = helperRegistry({ model });
    const runtime = await testRuntime({ model, registry, fresh: true });
    const thread = await runtime.start('Hi.');
    await eventually('the root span', async () => rootsOf(received).length === 1);
    const before = received.spans.length;
    const { store } = runtime;
    // As another worker does that begins where the one before has not stored its place.
    const other = openTelemetry({
      store: {
        ...store,
        traces: {
          ...store.traces,
          read: (id) => store.traces.read(id, { seq: 0, state: null }),
          list: async () => [thread],
        },
      },
      registry: () => registry,
    });
    await other?.catchUp(0);
    await other?.close();
    await eventually('the same spans again', async () => received.spans.length === 2 * before);
    expect(onceEach(received.spans)).toHaveLength(before);
  });

  it('are told of once if the SDK makes ids of its own', async () => {
    const received = await openReceiver();
    const model = scriptedModel([says('Hello.'), says('Again.')]);
    const runtime = await testRuntime({ model, fresh: true });
    const thread = await runtime.start('Hi.');
    await runtime.say(thread, 'Hi again.');
    startSdk(received, null);
    const { store } = runtime;
    const warnings: string[] = [];
    const telemetry = openTelemetry({
      store: { ...store, traces: { ...store.traces, list: async () => [thread] } },
      registry: () => helperRegistry({ model }),
      onWarning: (warning) => warnings.push(warning),
    });
    await telemetry?.catchUp(0);
    await telemetry?.close();
    expect(warnings).toEqual([expect.stringContaining('new ThreadIdGenerator()')]);
    expect(received.spans).toHaveLength(4);
  });

  it.each([
    ['hangs', () => undefined],
    ['answers 503', (response: ServerResponse) => void response.writeHead(503).end()],
  ])('hold up no thread, and no end of the worker, if the receiver %s', async (_what, answer) => {
    const received = await receiveOtlp(answer);
    closeAfterTest(received.close);
    process.env.OTEL_EXPORTER_OTLP_TIMEOUT = '6000';
    startSdk(received);
    const turns = 20;
    const model = scriptedModel(Array.from({ length: turns }, () => says('Hello.')));
    const runtime = await testRuntime({ model, fresh: true });
    const thread = await runtime.start('Hi.');
    for (let n = 1; n < turns; n++) await runtime.say(thread, `Hi ${n}.`);
    const begun = performance.now();
    await runtime.stopWorker();
    // The SDK's own attempt at an export takes six seconds.
    expect(performance.now() - begun).toBeLessThan(5_000);
  });

  it('are neither read nor written if no SDK is registered', async () => {
    const runtime = await testRuntime({ model: scriptedModel([says('Hello.')]), fresh: true });
    let listeners = 0;
    const listen = () => {
      listeners += 1;
      return () => undefined;
    };
    const store = { ...runtime.store, events: { ...runtime.store.events, listen } };
    expect(openTelemetry({ store, registry: () => ({}) as never })).toBeUndefined();
    expect(listeners).toBe(0);
    const thread = await runtime.start('Hi.');
    const { cursor } = await runtime.store.traces.read(thread);
    expect(cursor.state).toBeNull();
  });
});
