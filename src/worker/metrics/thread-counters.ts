/** The counters and histograms of Prometheus for what threads do (thread-metrics.ts). */
import { Counter, Histogram, type Registry as Metrics } from 'prom-client';
import { clampAmount, toPico, toUsd } from '../../core/value/money.ts';
import type { WorkSink } from './work-sink.ts';

/** Histogram buckets of model requests, in seconds: answers take from below one second to minutes. */
const SLOW_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
const QUICK_BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Names that the project defines, as labels. */
export interface KnownLabels {
  tools(): Iterable<string>;
  models(): Iterable<string>;
}

/**
 * A series that an alert watches is 0 before its first event: `increase()` does not count what a series begins with.
 */
export function openCounters(metrics: Metrics, known: KnownLabels) {
  const registers = [metrics];
  const counter = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new Counter({ name: `everthread_${name}`, help, labelNames, registers });
  const times = <Label extends string>(name: string, help: string, labelNames: Label[], buckets: number[]) =>
    new Histogram({ name: `everthread_${name}`, help, labelNames, buckets, registers });
  const executions = counter(
    'executions_ended_total',
    'Executions that this worker has ended, by what their threads are now',
    ['status'],
  );
  for (const status of ['idle', 'stopped', 'failed', 'terminated']) executions.inc({ status }, 0);
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
  const ofModels = (name: string, help: string) =>
    new Counter({
      name: `everthread_${name}`,
      help,
      labelNames: ['model'],
      registers,
      collect() {
        for (const model of known.models()) this.inc({ model }, 0);
      },
    });
  const unpriced = ofModels(
    'model_unpriced_total',
    'Answers whose cost is unknown: their model has no price, or its provider counted no tokens',
  );
  const addCost = openCostCounter(registers);
  const tools = new Counter({
    name: 'everthread_tool_calls_total',
    help: 'Calls of tools, prompts and subagents that have an outcome',
    labelNames: ['tool', 'outcome'],
    registers,
    collect() {
      for (const tool of known.tools()) this.inc({ tool, outcome: 'unknown' }, 0);
    },
  });
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
    executionEnded: ({ status = 'idle' }) => executions.inc({ status }),
  };
  return {
    work,
    steps: counter('steps_total', 'Started and ended steps', ['outcome']),
    stepRetries: counter('step_retries_total', 'Repeated steps, by the reason the previous attempt ended', [
      'reason',
    ]),
    modelRetries: ofModels('model_retries_total', 'Repeated requests to models'),
    modelWaits: ofModels(
      'model_waits_total',
      'Steps that were left because the provider of their model took no request',
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
