/** The counters and histograms of Prometheus for what threads do (thread-metrics.ts). */
import { Counter, Histogram, type Registry as Metrics } from 'prom-client';
import { clampAmount, toPico, toUsd } from '../../core/value/money.ts';
import type { WorkSink } from './work-sink.ts';

/** Histogram buckets of model requests, in seconds: answers take from below one second to minutes. */
const SLOW_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
const QUICK_BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

export function openCounters(metrics: Metrics) {
  const registers = [metrics];
  const counter = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new Counter({ name: `everthread_${name}`, help, labelNames, registers });
  const times = <Label extends string>(name: string, help: string, labelNames: Label[], buckets: number[]) =>
    new Histogram({ name: `everthread_${name}`, help, labelNames, buckets, registers });
  const executions = counter('executions_ended_total', 'Executions that this worker has ended', ['status']);
  const requests = counter(
    'model_requests_total',
    'Requests to models; outcome: ok, or the code of the failure',
    ['model', 'outcome'],
  );
  const latency = times(
    'model_request_duration_seconds',
    'Time from a request to a model to the end of its answer',
    ['model'],
    SLOW_BUCKETS,
  );
  const firstToken = times(
    'model_first_token_seconds',
    'Time from a request to the first streamed text, as stored',
    ['model'],
    SLOW_BUCKETS,
  );
  const tokens = counter('model_tokens_total', 'Tokens, as providers report them; kind: input or output', [
    'model',
    'kind',
  ]);
  const unpriced = counter(
    'model_unpriced_total',
    'Answers whose cost is unknown: their model has no price',
    ['model'],
  );
  const addCost = openCostCounter(registers);
  const tools = counter('tool_calls_total', 'Calls of tools, prompts and subagents that have an outcome', [
    'tool',
    'outcome',
  ]);
  const toolTime = times(
    'tool_duration_seconds',
    'Time from the start of a call to its stored result',
    ['tool'],
    QUICK_BUCKETS,
  );
  const work: WorkSink = {
    requestEnded({ model, seconds, error }) {
      requests.inc({ model, outcome: error ?? 'ok' });
      if (seconds !== undefined) latency.observe({ model }, seconds);
    },
    begun({ model, seconds, part }) {
      if (part === 'text') firstToken.observe({ model }, seconds);
    },
    answered({ model, usage, cost }) {
      tokens.inc({ model, kind: 'input' }, usage?.promptTokens ?? 0);
      tokens.inc({ model, kind: 'output' }, usage?.completionTokens ?? 0);
      if (cost === null) unpriced.inc({ model });
      addCost(model, cost ?? 0);
    },
    callEnded({ tool, outcome, seconds }) {
      tools.inc({ tool, outcome });
      if (seconds !== undefined) toolTime.observe({ tool }, seconds);
    },
    executionEnded: ({ status }) => executions.inc({ status }),
  };
  return {
    work,
    steps: counter('steps_total', 'Started and ended steps', ['outcome']),
    stepRetries: counter('step_retries_total', 'Repeated steps, by the reason the previous attempt ended', [
      'reason',
    ]),
    modelRetries: counter('model_retries_total', 'Repeated requests to models', ['model']),
    modelWaits: counter(
      'model_waits_total',
      'Steps that were left because the provider of their model took no request',
      ['model'],
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
