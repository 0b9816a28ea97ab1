/**
 * Assertions about a run: on a report, its JSON, or events. A failed one throws an AssertionError with what was found.
 */
import { AssertionError } from 'node:assert';
import { RunReplay, type RunSource } from '../projections/run/run-replay.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface AssertEventsOptions {
  /** True (default) if the events must occur in this order. */
  readonly ordered?: boolean;
  /** True (default) if other events may occur between and around them. */
  readonly allowExtra?: boolean;
}

/**
 * Asserts that events of these types occurred, by default in this order, with any others around and between them.
 * @example
 * ```ts
 * const report = await client.runs.report('execution-1');
 * assertRunEvents(report, ['llm.call.started', 'action.started', 'action.completed']);
 * ```
 */
export function assertRunEvents(
  source: RunSource,
  types: readonly string[],
  { ordered = true, allowExtra = true }: AssertEventsOptions = {},
): void {
  const { eventTypes: observed } = new RunReplay(source);
  const missing = ordered ? missingInOrder(observed, types) : missingAnywhere(observed, types);
  const same =
    observed.length === types.length && (!ordered || observed.every((type, n) => type === types[n]));
  if (missing.length === 0 && (allowExtra || same)) return;
  const what = missing.length > 0 ? `lack ${missing.join(', ')}` : 'include others';
  fail(`The run's events ${what}.\nExpected: ${types.join(', ')}\nObserved: ${observed.join(', ')}`);
}

function missingInOrder(observed: readonly string[], types: readonly string[]): string[] {
  let from = 0;
  return types.filter((type) => {
    const found = observed.indexOf(type, from);
    if (found >= 0) from = found + 1;
    return found < 0;
  });
}

function missingAnywhere(observed: readonly string[], types: readonly string[]): string[] {
  const left = [...observed];
  return types.filter((type) => {
    const found = left.indexOf(type);
    if (found >= 0) left.splice(found, 1);
    return found < 0;
  });
}

/**
 * Asserts that nothing was denied, neither by a policy nor by a person who was asked.
 * @example
 * ```ts
 * assertNoDeniedActions(await client.runs.report('execution-1'));
 * ```
 */
export function assertNoDeniedActions(source: RunSource): void {
  const denied = new RunReplay(source).events.filter(({ type, payload }) => {
    const decision = payload.decision as Fields | undefined;
    if (type === 'action.denied') return true;
    if (type === 'action.policy') return decision?.effect === 'deny';
    return type === 'approval.decided' && decision?.approved !== true;
  });
  if (denied.length === 0) return;
  const listed = denied.map(({ type, summary }) => `${type}: ${summary ?? ''}`);
  fail(`Actions of the run were denied:\n${listed.join('\n')}`);
}

export interface RunUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  /** Total latency of the model calls. */
  readonly runtimeSeconds: number;
}

export interface BudgetBounds {
  readonly maxInputTokens?: number;
  readonly maxOutputTokens?: number;
  readonly maxTotalTokens?: number;
  readonly maxRuntimeSeconds?: number;
}

/**
 * Asserts that the run's models used no more than this, and returns what they used. If no provider has counted the
 * input tokens, the estimates of the manifests are used.
 * @example
 * ```ts
 * const { totalTokens } = assertBudgetUnder(await client.runs.report('execution-1'), { maxTotalTokens: 8_000 });
 * console.log(totalTokens);
 * ```
 */
export function assertBudgetUnder(source: RunSource, bounds: BudgetBounds): RunUsage {
  const usage = readUsage(new RunReplay(source));
  const over = (
    [
      ['input tokens', usage.inputTokens, bounds.maxInputTokens],
      ['output tokens', usage.outputTokens, bounds.maxOutputTokens],
      ['tokens', usage.totalTokens, bounds.maxTotalTokens],
      ['seconds', usage.runtimeSeconds, bounds.maxRuntimeSeconds],
    ] as const
  ).filter(([, used, max]) => max !== undefined && used > max);
  if (over.length > 0)
    fail(
      `The run is over its budget: ${over.map(([what, used, max]) => `${used} ${what}, ${max} at most`).join('; ')}.`,
    );
  return usage;
}

function readUsage(replay: RunReplay): RunUsage {
  const metrics = replay.events
    .filter(({ payload }) => payload.llm_event_type === 'llm_call_metrics')
    .map(({ payload }) => payload.metrics as Fields);
  const sum = (name: string) => metrics.reduce((total, one) => total + numberOf(one[name]), 0);
  const manifests = replay.findEvents('context.prepared').map(({ payload }) => payload.manifest as Fields);
  const estimated = manifests.reduce((total, one) => total + numberOf(one.total_estimated_tokens), 0);
  const inputTokens = sum('input_tokens') || estimated;
  const outputTokens = sum('output_tokens');
  return {
    inputTokens,
    outputTokens,
    totalTokens: sum('total_tokens') || inputTokens + outputTokens,
    runtimeSeconds: sum('latency_ms') / 1000,
  };
}

const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 0);

function fail(message: string): never {
  throw new AssertionError({ message });
}
