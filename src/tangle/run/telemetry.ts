/** What may be told of a run without telling what was said in it: kinds, names, numbers. Everything else is left out unless it is asked for. */

export interface TelemetryOptions {
  /** Fields that are told as well, of any event: `['text', 'args']`. */
  readonly include?: readonly string[];
}

export interface TelemetryEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface TelemetrySummary {
  readonly eventCountsByType: Readonly<Record<string, number>>;
  readonly finalStatus: string | null;
}

export interface Telemetry {
  /** Answers what is told of it. */
  observe(event: { readonly type: string; readonly data?: unknown }): TelemetryEvent;
  summary(): TelemetrySummary;
}

/** Names and numbers that say nothing of a user. */
const TOLD = new Set(
  (
    'type id model tokensIn tokensOut costUsd latencyMs finishReason toolName toolCallId isError round executionId sessionId turnIndex ' +
    'status code backend fromModel toModel kind waitId mimeType size'
  ).split(' '),
);

/**
 * @example
 * ```ts
 * const telemetry = createTelemetry();
 * console.log(telemetry.observe({ type: 'tool_call', data: { toolName: 'pay', args: { iban: 'DE…' } } })); // without args
 * ```
 */
export function createTelemetry({ include = [] }: TelemetryOptions = {}): Telemetry {
  const told = new Set([...TOLD, ...include]);
  const counts = new Map<string, number>();
  let finalStatus: string | null = null;
  return {
    observe(event) {
      const { type } = event;
      counts.set(type, (counts.get(type) ?? 0) + 1);
      const { data, ...flat } = event as Readonly<Record<string, unknown>>;
      const fields = { ...flat, ...(typeof data === 'object' && data !== null ? data : {}) };
      if (/^(execution|session\.run)\.(completed|failed)$/.test(type))
        finalStatus = type.split('.').at(-1) ?? null;
      const kept = Object.entries(fields).filter(
        ([name, value]) => told.has(name) && isPlain(value, name, include),
      );
      return { ...Object.fromEntries(kept), type };
    },
    summary: () => ({ eventCountsByType: Object.fromEntries(counts), finalStatus }),
  };
}

/** A name of ours may hold what is no name: that is left out, too. */
function isPlain(value: unknown, name: string, include: readonly string[]): boolean {
  return include.includes(name) || typeof value !== 'object';
}
