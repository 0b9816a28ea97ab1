/** The content of spans, in the shapes of the conventions for generative AI. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { attributeOf, type OtlpSpan, onceEach } from '../support/otlp-receiver.ts';
import { eventually, testRuntime } from '../support/runtime.ts';
import { endTelemetry, openReceiver, rootsOf, startSdk } from '../support/telemetry.ts';

afterEach(endTelemetry);

const look = defineTool({
  description: 'looks',
  args: z.object({ at: z.string(), password: z.string() }),
  execute: async () => ({ status: 'success', result: JSON.stringify({ seen: 'x'.repeat(5_000) }) }),
});

async function spansOf(setting: string | undefined) {
  if (setting !== undefined) process.env.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT = setting;
  const received = await openReceiver();
  startSdk(received);
  const model = scriptedModel([calls('look', { at: 'it', password: 'hunter2' }), says('Done.')]);
  const runtime = await testRuntime({ model, tools: { look }, fresh: true });
  await runtime.start('Look.');
  await eventually('the root span', async () => rootsOf(received).length === 1);
  return onceEach(received.spans);
}

const contentOf = (span: OtlpSpan | undefined, name: string) => {
  const text = span && attributeOf(span, name);
  return text === undefined ? undefined : JSON.parse(String(text));
};

describe('the content of spans', () => {
  it('is given, redacted and cut, if the variable says so', async () => {
    const spans = await spansOf('SPAN_ONLY');
    const [first, second] = spans.filter(({ name }) => name.startsWith('chat '));
    const asks = {
      type: 'tool_call',
      name: 'look',
      id: expect.any(String),
      arguments: { at: 'it', password: '[REDACTED]' },
    };
    expect(contentOf(first, 'gen_ai.system_instructions')).toEqual([{ type: 'text', content: 'You help.' }]);
    expect(contentOf(first, 'gen_ai.input.messages')).toEqual([
      { role: 'user', parts: [{ type: 'text', content: 'Look.' }] },
    ]);
    expect(contentOf(first, 'gen_ai.output.messages')).toEqual([
      { role: 'assistant', parts: [asks], finish_reason: 'tool_call' },
    ]);
    expect(contentOf(second, 'gen_ai.input.messages')).toMatchObject([
      { role: 'user' },
      { role: 'assistant', parts: [asks] },
      { role: 'tool', parts: [{ type: 'tool_call_response' }] },
    ]);
    expect(contentOf(second, 'gen_ai.output.messages')).toEqual([
      { role: 'assistant', parts: [{ type: 'text', content: 'Done.' }], finish_reason: 'stop' },
    ]);
    const call = spans.find(({ name }) => name === 'execute_tool look');
    expect(contentOf(call, 'gen_ai.tool.call.arguments')).toEqual(asks.arguments);
    const { seen } = contentOf(call, 'gen_ai.tool.call.result');
    expect(seen.length).toBeGreaterThan(3_000);
    expect(seen.length).toBeLessThan(4_100);
    expect(JSON.stringify(spans)).not.toContain('hunter2');
  });

  it.each([undefined, 'false', 'EVENT_ONLY'])('is absent if the variable is %s', async (setting) => {
    expect(JSON.stringify(await spansOf(setting))).not.toMatch(/Look\.|Done\.|hunter2|You help/);
  });
});
