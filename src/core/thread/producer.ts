/**
 * Executions that a closure of one process produces, and tasks whose adapter lives in one process. Only that process
 * can continue them, and its presence is recorded in the store.
 */
import type { ProviderUsage } from '../message/provider.ts';
import type { TaskVerdict } from '../task/control.ts';
import { sumUsd } from '../value/money.ts';
import { isRecord } from '../value/record.ts';
import type { StoredError } from './step.ts';

/** Milliseconds without a sign of its process after which a producer is lost. */
export const PRESENCE_MS = 30_000;

/** The outcome of a produced execution. */
export type Produced =
  | { readonly ok: true; readonly text: string; readonly usage: ProviderUsage }
  | { readonly ok: false; readonly error: StoredError };

/** One line that a producer sends to its readers, in its own format. */
export interface ProducedLine {
  readonly type: string;
  readonly data?: unknown;
}

/**
 * Sums the usage in lines of type `llm_call`: `{ model, tokensIn?, tokensOut?, costUsd? }`. Fields that are not
 * positive finite numbers count as 0.
 */
export function usageOf(lines: readonly ProducedLine[]): ProviderUsage & { readonly calls: number } {
  const asked = lines.flatMap(({ type, data }) => (type === 'llm_call' && isRecord(data) ? [data] : []));
  const sum = (field: string) =>
    asked.reduce((all, { [field]: amount }) => all + (isAmount(amount) ? amount : 0), 0);
  const [promptTokens, completionTokens] = [sum('tokensIn'), sum('tokensOut')];
  const costs = asked.map(({ costUsd }) => costUsd).filter(isAmount);
  return {
    calls: asked.length,
    promptTokens,
    completionTokens,
    totalTokens: promptTokens + completionTokens,
    ...(costs.length > 0 ? { cost: sumUsd(costs) } : {}),
  };
}

function isAmount(given: unknown): given is number {
  return typeof given === 'number' && Number.isFinite(given) && given > 0;
}

export function producerLost(executionId: string): StoredError {
  return {
    code: 'ProducerLost',
    message:
      `The process that produced the execution "${executionId}" was lost, and no other process can continue it: ` +
      'start a new execution.',
  };
}

/** The verdict of a task whose adapter was lost with its process. */
export function adapterLost(taskId: string): TaskVerdict & { readonly code: 'ProducerLost' } {
  return {
    stoppedBy: 'runtime-error',
    pass: false,
    code: 'ProducerLost',
    reason:
      `The process that held the adapter of the task "${taskId}" was lost, and no other process can continue it: ` +
      'start a new task; a task defined in agents/tasks survives the loss of its process.',
  };
}
