/**
 * The metrics of OpenTelemetry's conventions for generative AI, `semantic-conventions-genai` v0.1.0: their names, units
 * and bucket boundaries. `OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai/dup` adds those of the conventions 1.41.
 * - Without a registered SDK there is none of this.
 */
import { type Attributes, type Meter, metrics } from '@opentelemetry/api';
import { withinTime } from '../../author/guard/within-time.ts';
import { GEN_AI, providerName } from '../../projections/trace/conventions.ts';
import type { AskedModel, WorkSink } from './work-sink.ts';

const CLIENT_SECONDS = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
];
const AGENT_SECONDS = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6];
const TOKENS = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864];

export interface OtelSinkPorts {
  /** The name of the factory of a model's provider. */
  readonly factoryOf: (model: string) => string | undefined;
  /** When an execution began, in microseconds since 1970. */
  readonly startedAt: (threadId: string, executionId: string) => Promise<number | undefined>;
}

/** Undefined if no meter provider is registered in this process. */
export function openOtelSink(ports: OtelSinkPorts): WorkSink | undefined {
  // By its name: the API may be in the process twice, and the copies share what is registered.
  const isRegistered = metrics.getMeterProvider().constructor.name !== 'NoopMeterProvider';
  if (!isRegistered) return undefined;
  const meter = metrics.getMeter('everthread');
  const { OTEL_SEMCONV_STABILITY_OPT_IN: optIn = '' } = process.env;
  const withFormer = optIn.split(',').some((each) => each.trim() === 'gen_ai/dup');
  return createSink(openInstruments(meter), withFormer ? openFormerInstruments(meter) : undefined, ports);
}

const FLUSH_WITHIN_MS = 2_000;

/** Lets a registered SDK export what was recorded; takes two seconds at most. */
export async function flushOtel(): Promise<void> {
  const provider = metrics.getMeterProvider() as { forceFlush?: () => Promise<void> };
  await withinTime(() => provider.forceFlush?.(), { timeoutMs: FLUSH_WITHIN_MS }).catch(() => undefined);
}

function openInstruments(meter: Meter) {
  const seconds = histograms(meter, 's');
  const tokens = histograms(meter, '{token}');
  const counter = (part: string, description: string) =>
    meter.createCounter(`gen_ai.client.inference.usage.${part}_tokens`, { unit: '{token}', description });
  return {
    duration: seconds('client.inference.duration', CLIENT_SECONDS, 'Duration of a request to a model'),
    firstChunk: seconds(
      'client.inference.time_to_first_chunk',
      CLIENT_SECONDS,
      'Time from a request to a model to the first part of its answer',
    ),
    inputOf: tokens('client.inference.operation.input_tokens', TOKENS, 'Input tokens of a request'),
    outputOf: tokens('client.inference.operation.output_tokens', TOKENS, 'Output tokens of a request'),
    input: counter('input', 'Input tokens, with those that caches hold'),
    output: counter('output', 'Output tokens, with those of the reasoning'),
    cacheRead: counter('cache_read.input', 'Input tokens that were read from a cache'),
    cacheWrite: counter('cache_write.input', 'Input tokens that were written to a cache'),
    reasoning: counter('reasoning.output', 'Output tokens of the reasoning'),
    tool: seconds('execute_tool.duration', CLIENT_SECONDS, 'Duration of the execution of a tool'),
    agent: seconds('invoke_agent.duration', AGENT_SECONDS, 'Duration of an execution'),
  };
}

function openFormerInstruments(meter: Meter) {
  const seconds = histograms(meter, 's');
  return {
    duration: seconds('client.operation.duration', CLIENT_SECONDS, 'GenAI operation duration.'),
    firstChunk: seconds(
      'client.operation.time_to_first_chunk',
      CLIENT_SECONDS,
      'Time to receive the first chunk.',
    ),
    tokens: histograms(meter, '{token}')(
      'client.token.usage',
      TOKENS,
      'Number of input and output tokens used.',
    ),
  };
}

const histograms =
  (meter: Meter, unit: string) => (name: string, explicitBucketBoundaries: number[], description: string) =>
    meter.createHistogram(`gen_ai.${name}`, { unit, description, advice: { explicitBucketBoundaries } });

function createSink(
  now: ReturnType<typeof openInstruments>,
  former: ReturnType<typeof openFormerInstruments> | undefined,
  { factoryOf, startedAt }: OtelSinkPorts,
): WorkSink {
  const labelsOf = ({ model, modelId }: AskedModel): Attributes => ({
    [GEN_AI.operation]: 'chat',
    [GEN_AI.provider]: providerName(factoryOf(model) ?? ''),
    [GEN_AI.requestModel]: modelId,
  });
  const failure = (error: string | undefined): Attributes =>
    error === undefined ? {} : { [GEN_AI.error]: error };
  return {
    requestEnded({ seconds, error, ...asked }) {
      if (seconds === undefined) return;
      const labels = { ...labelsOf(asked), ...failure(error) };
      now.duration.record(seconds, labels);
      former?.duration.record(seconds, labels);
    },
    begun({ seconds, part, ...asked }) {
      if (part !== 'chunk') return;
      now.firstChunk.record(seconds, labelsOf(asked));
      former?.firstChunk.record(seconds, labelsOf(asked));
    },
    answered({ usage, ...asked }) {
      if (usage === null) return;
      const labels = labelsOf(asked);
      const { promptTokens, completionTokens, cachedTokens, cacheWriteTokens, reasoningTokens } = usage;
      now.inputOf.record(promptTokens, labels);
      now.outputOf.record(completionTokens, labels);
      former?.tokens.record(promptTokens, { ...labels, 'gen_ai.token.type': 'input' });
      former?.tokens.record(completionTokens, { ...labels, 'gen_ai.token.type': 'output' });
      // Providers do not divide their sums by text, image and audio.
      const sums = { ...labels, 'gen_ai.token.modality': 'unknown' };
      now.input.add(promptTokens, sums);
      now.output.add(completionTokens, sums);
      if (cachedTokens !== undefined) now.cacheRead.add(cachedTokens, sums);
      if (cacheWriteTokens !== undefined) now.cacheWrite.add(cacheWriteTokens, sums);
      if (reasoningTokens !== undefined) now.reasoning.add(reasoningTokens, sums);
    },
    callEnded({ tool, agent, outcome, seconds }) {
      if (seconds === undefined) return;
      now.tool.record(seconds, {
        [GEN_AI.toolName]: tool,
        [GEN_AI.toolType]: 'function',
        [GEN_AI.agent]: agent,
        ...failure(outcome === 'success' ? undefined : 'ToolError'),
      });
    },
    executionEnded({ threadId, executionId, agent, error, endedAt }) {
      // Any worker may have begun it, so the store knows when.
      const record = (from: number | undefined) => {
        if (from === undefined) return;
        const seconds = Math.max(0, endedAt - from) / 1_000_000;
        now.agent.record(seconds, { [GEN_AI.agent]: agent, ...failure(error) });
      };
      // A store that does not answer costs one figure.
      startedAt(threadId, executionId).then(record, () => undefined);
    },
  };
}
