/**
 * Counts what the threads of this worker do, from the events that it writes into their logs. Each worker counts only
 * the events that it writes itself.
 * - No label holds text that a person or a model has made up.
 */
import { Counter, Histogram, type Registry as Metrics } from 'prom-client';
import type { Registry } from '../../core/author/registry.ts';
import type { EventData, EventKind, ThreadEvent } from '../../core/event/thread-event.ts';
import { clampAmount, toPico, toUsd } from '../../core/value/money.ts';
import type { EventListener } from '../../store/transaction/event-record.ts';

/** Histogram buckets of model requests, in seconds: answers take from below one second to minutes. */
const SLOW_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
const QUICK_BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
/** Maximum number of begun requests or calls kept: if another worker writes the end of one, it is never removed. */
const MAX_BEGUN = 10_000;

interface TimedRequest {
  readonly at: number;
  readonly model: string;
  begun: boolean;
}

export function listenToThreads(metrics: Metrics, registry: () => Registry): EventListener {
  const count = openCounters(metrics);
  const toolLabel = openLabels((name) => {
    const { tools, prompts, agents } = registry();
    return tools.has(name) || prompts.has(name) || agents.has(name);
  });
  const modelLabel = openLabels((name) => registry().models.has(name));
  const codeLabel = openLabels((code) => /^[A-Za-z_]{1,40}$/.test(code));
  const asked = new Map<string, TimedRequest>();
  const begunTools = new Map<string, number>();
  const keep = <T>(map: Map<string, T>, key: string, value: T) => {
    if (map.size >= MAX_BEGUN) map.clear();
    map.set(key, value);
  };
  const settle = (key: string, event: ThreadEvent, outcome: string) => {
    const call = asked.get(key);
    asked.delete(key);
    const model = call?.model ?? OTHER_LABEL;
    count.requests.inc({ model, outcome });
    if (call) count.latency.observe({ model }, secondsBetween(call.at, event.at));
    return model;
  };
  const handlers: {
    readonly [Kind in EventKind]?: (thread: string, event: ThreadEvent, data: EventData[Kind]) => void;
  } = {
    'step.started': () => count.steps.inc({ outcome: 'started' }),
    'step.committed': () => count.steps.inc({ outcome: 'committed' }),
    'step.failed': () => count.steps.inc({ outcome: 'failed' }),
    'step.retried': (_thread, _event, { cause }) => count.stepRetries.inc({ reason: cause ?? 'worker_lost' }),
    'model.called': (thread, event, { model, call }) =>
      keep(asked, keyOf(thread, event, call), { at: event.at, model: modelLabel(model), begun: false }),
    'model.chunk': (thread, event, { call, delta }) => {
      if (delta === '') return;
      const known = asked.get(keyOf(thread, event, call));
      if (!known || known.begun) return;
      known.begun = true;
      count.firstToken.observe({ model: known.model }, secondsBetween(known.at, event.at));
    },
    'model.answered': (thread, event, { call, usage, cost }) => {
      const model = settle(keyOf(thread, event, call), event, 'ok');
      count.tokens.inc({ model, kind: 'input' }, usage?.promptTokens ?? 0);
      count.tokens.inc({ model, kind: 'output' }, usage?.completionTokens ?? 0);
      count.addCost(model, cost ?? 0);
    },
    'model.failed': (thread, event, { call, code, retryInMs, plain }) => {
      const model = settle(keyOf(thread, event, call), event, codeLabel(code ?? OTHER_LABEL));
      if (retryInMs !== undefined || plain) count.modelRetries.inc({ model });
    },
    'model.held': (_thread, _event, { model }) => count.modelWaits.inc({ model: modelLabel(model) }),
    'tool.started': (thread, event, { callId }) => keep(begunTools, `${thread} ${callId}`, event.at),
    'tool.result': (thread, event, { name, callId, status, endedAt = event.at }) => {
      const tool = toolLabel(name);
      const begun = begunTools.get(`${thread} ${callId}`);
      begunTools.delete(`${thread} ${callId}`);
      count.tools.inc({ tool, outcome: status });
      if (begun !== undefined) count.toolTime.observe({ tool }, secondsBetween(begun, endedAt));
    },
    'tool.unknown': (_thread, _event, { name }) =>
      count.tools.inc({ tool: toolLabel(name), outcome: 'unknown' }),
    'execution.ended': (_thread, _event, { status }) => count.executions.inc({ status }),
  };
  return {
    kinds: new Set(Object.keys(handlers) as EventKind[]),
    told: ({ threadId }, event) => handlers[event.type]?.(threadId, event, event.data as never),
  };
}

function openCounters(metrics: Metrics) {
  const registers = [metrics];
  const counter = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new Counter({ name: `everthread_${name}`, help, labelNames, registers });
  const times = <Label extends string>(name: string, help: string, labelNames: Label[], buckets: number[]) =>
    new Histogram({ name: `everthread_${name}`, help, labelNames, buckets, registers });
  return {
    executions: counter('executions_ended_total', 'Executions that this worker has ended', ['status']),
    steps: counter('steps_total', 'Started and ended steps', ['outcome']),
    stepRetries: counter('step_retries_total', 'Repeated steps, by the reason the previous attempt ended', [
      'reason',
    ]),
    requests: counter('model_requests_total', 'Requests to models; outcome: ok, or the code of the failure', [
      'model',
      'outcome',
    ]),
    modelRetries: counter('model_retries_total', 'Repeated requests to models', ['model']),
    modelWaits: counter(
      'model_waits_total',
      'Steps that were left because the provider of their model took no request',
      ['model'],
    ),
    latency: times(
      'model_request_duration_seconds',
      'Time from a request to a model to the end of its answer',
      ['model'],
      SLOW_BUCKETS,
    ),
    firstToken: times(
      'model_first_token_seconds',
      'Time from a request to the first streamed text, as stored',
      ['model'],
      SLOW_BUCKETS,
    ),
    tokens: counter('model_tokens_total', 'Tokens, as providers report them; kind: input or output', [
      'model',
      'kind',
    ]),
    addCost: openCostCounter(registers),
    tools: counter('tool_calls_total', 'Calls of tools, prompts and subagents that have an outcome', [
      'tool',
      'outcome',
    ]),
    toolTime: times(
      'tool_duration_seconds',
      'Time from the start of a call to its stored result',
      ['tool'],
      QUICK_BUCKETS,
    ),
  };
}

/** The counter's numbers are inexact sums: each is set from an exact one. */
function openCostCounter(registers: Metrics[]) {
  const spent = new Map<string, bigint>();
  new Counter({
    name: 'everthread_model_cost_usd_total',
    help: 'Cost in US dollars, of models that have prices',
    labelNames: ['model'],
    registers,
    collect() {
      this.reset();
      for (const [model, pico] of spent) this.inc({ model }, toUsd(pico));
    },
  });
  return (model: string, usd: number) =>
    void spent.set(model, clampAmount((spent.get(model) ?? 0n) + toPico(Math.max(0, usd))));
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
