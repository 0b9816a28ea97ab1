/**
 * Counts what the threads of this worker do, from the events that it writes into their logs, for Prometheus and, if an
 * OpenTelemetry SDK is registered, for that as well. Each worker counts only the events that it writes itself.
 * - No label holds text that a person or a model has made up.
 */
import type { Registry as Metrics } from 'prom-client';
import type { Registry } from '../../core/author/registry.ts';
import type { EventData, EventKind, ThreadEvent } from '../../core/event/thread-event.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { EventListener } from '../../store/transaction/event-record.ts';
import { openOtelSink } from './otel-sink.ts';
import { openCounters } from './thread-counters.ts';
import type { AskedModel, BegunAnswer, WorkSink } from './work-sink.ts';

/** Maximum number of begun requests or calls kept: if another worker writes the end of one, it is never removed. */
const MAX_BEGUN = 10_000;

interface TimedRequest extends AskedModel {
  readonly at: number;
  /** What of its answer is stored. */
  readonly parts: Set<BegunAnswer['part']>;
}

/** An event of one kind, and the thread that it is of. */
interface Told<Kind extends EventKind> {
  readonly threadId: string;
  /** A label. */
  readonly agent: string;
  readonly event: ThreadEvent;
  readonly data: EventData[Kind];
}

export interface ThreadMetricsPorts {
  readonly registry: () => Registry;
  readonly executions: Pick<ThreadStore['executions'], 'get'>;
}

export function listenToThreads(
  metrics: Metrics,
  { registry, executions }: ThreadMetricsPorts,
): EventListener {
  const otel = openOtelSink({
    factoryOf: (model) => registry().models.get(model)?.provider.name,
    startedAt: async (threadId, id) => (await executions.get(threadId, id))?.startedAt,
  });
  const toolLabel = openLabels((name) => {
    const { tools, prompts, agents } = registry();
    return tools.has(name) || prompts.has(name) || agents.has(name);
  });
  const modelLabel = openLabels((name) => registry().models.has(name));
  const agentLabel = openLabels((name) => registry().agents.has(name));
  const count = openCounters(metrics, {
    tools: () => new Set([...registry().tools.keys()].map(toolLabel)),
    models: () => new Set([...registry().models.keys()].map(modelLabel)),
  });
  const sinks: readonly WorkSink[] = otel ? [count.work, otel] : [count.work];
  const codeLabel = openLabels((code) => /^[A-Za-z_]{1,40}$/.test(code));
  const asked = new Map<string, TimedRequest>();
  const begunTools = new Map<string, number>();
  const keep = <T>(map: Map<string, T>, key: string, value: T) => {
    if (map.size >= MAX_BEGUN) map.clear();
    map.set(key, value);
  };
  const endRequest = (key: string, at: number, error?: string): AskedModel => {
    const call = asked.get(key);
    asked.delete(key);
    const { model, modelId } = call ?? UNKNOWN_MODEL;
    const seconds = call && secondsBetween(call.at, at);
    for (const sink of sinks) sink.requestEnded({ model, modelId, seconds, error });
    return { model, modelId };
  };
  const handlers: { readonly [Kind in EventKind]?: (told: Told<Kind>) => void } = {
    'step.started': () => count.steps.inc({ outcome: 'started' }),
    'step.committed': () => count.steps.inc({ outcome: 'committed' }),
    'step.failed': () => count.steps.inc({ outcome: 'failed' }),
    'step.retried': ({ data: { cause } }) => count.stepRetries.inc({ reason: cause ?? 'worker_lost' }),
    'model.called': ({ threadId, event, data: { model: name, modelId, call } }) => {
      const model = modelLabel(name);
      const known = model === OTHER_LABEL ? UNKNOWN_MODEL : { model, modelId };
      keep(asked, keyOf(threadId, event, call), { at: event.at, ...known, parts: new Set() });
    },
    'model.chunk': ({ threadId, event, data: { call, delta } }) => {
      const known = asked.get(keyOf(threadId, event, call));
      // Most chunks are neither.
      if (!known || known.parts.has(delta === '' ? 'chunk' : 'text')) return;
      const { model, modelId, parts } = known;
      const seconds = secondsBetween(known.at, event.at);
      for (const part of delta === '' ? (['chunk'] as const) : (['chunk', 'text'] as const)) {
        if (parts.has(part)) continue;
        parts.add(part);
        for (const sink of sinks) sink.begun({ model, modelId, seconds, part });
      }
    },
    'model.answered': ({ threadId, event, data: { call, usage, cost } }) => {
      const known = endRequest(keyOf(threadId, event, call), event.at);
      for (const sink of sinks) sink.answered({ ...known, usage, cost });
    },
    'model.failed': ({ threadId, event, data: { call, code, retryInMs, plain } }) => {
      const error = codeLabel(code ?? OTHER_LABEL);
      const { model } = endRequest(keyOf(threadId, event, call), event.at, error);
      if (retryInMs !== undefined || plain) count.modelRetries.inc({ model });
    },
    'model.held': ({ data: { model } }) => count.modelWaits.inc({ model: modelLabel(model) }),
    'tool.started': ({ threadId, event, data: { callId } }) =>
      keep(begunTools, `${threadId} ${callId}`, event.at),
    'tool.result': ({ threadId, agent, event, data: { name, callId, status, endedAt = event.at } }) => {
      const begun = begunTools.get(`${threadId} ${callId}`);
      begunTools.delete(`${threadId} ${callId}`);
      const seconds = begun === undefined ? undefined : secondsBetween(begun, endedAt);
      for (const sink of sinks) sink.callEnded({ tool: toolLabel(name), agent, outcome: status, seconds });
    },
    'tool.unknown': ({ agent, data: { name } }) => {
      const call = { tool: toolLabel(name), agent, outcome: 'unknown', seconds: undefined } as const;
      for (const sink of sinks) sink.callEnded(call);
    },
    'execution.ended': ({ threadId, agent, event, data: { executionId, status, reason, error } }) => {
      const code = status === 'failed' ? codeLabel(error?.code ?? reason) : undefined;
      const ended = { threadId, executionId, agent, status, error: code, endedAt: event.at };
      for (const sink of sinks) sink.executionEnded(ended);
    },
  };
  return {
    kinds: new Set(Object.keys(handlers) as EventKind[]),
    told: ({ threadId, agent }, event) =>
      handlers[event.type]?.({ threadId, agent: agentLabel(agent), event, data: event.data as never }),
  };
}

function keyOf(threadId: string, { step, attempt }: ThreadEvent, call: number): string {
  return `${threadId} ${step} ${attempt} ${call}`;
}

/** Converts the difference of two times in microseconds to seconds; never negative. */
function secondsBetween(from: number, to: number): number {
  return Math.max(0, to - from) / 1_000_000;
}

const MAX_LABELS = 200;
const OTHER_LABEL = 'other';
const UNKNOWN_MODEL: AskedModel = { model: OTHER_LABEL, modelId: OTHER_LABEL };

/**
 * Bounds the values of labels: a model can invent names of tools, and each value of a label is a permanent series.
 * Returns a function from names to labels: at most 200 known names map to themselves, all others to `other`.
 */
function openLabels(isKnown: (name: string) => boolean): (name: string) => string {
  const seen = new Set<string>();
  return (name) => {
    if (seen.has(name)) return name;
    if (seen.size >= MAX_LABELS || !isKnown(name)) return OTHER_LABEL;
    seen.add(name);
    return name;
  };
}
