/**
 * Reduces the events of a run to what reveals nothing of its content: types, names and numbers. Everything else is left
 * out unless it is included by name.
 */

export interface TelemetryOptions {
  /** Names of further fields to keep, in any event: `['text', 'args']`. */
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
  /** Counts an event, and returns the fields of it that are kept. */
  observe(event: { readonly type: string; readonly data?: unknown }): TelemetryEvent;
  summary(): TelemetrySummary;
}

/** Fields that are kept: names and numbers that reveal nothing about a user. */
const KEPT_FIELDS = new Set(
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
  const shownFields = new Set([...KEPT_FIELDS, ...include]);
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
        ([name, value]) => shownFields.has(name) && isPlain(value, name, include),
      );
      return { ...Object.fromEntries(kept), type };
    },
    summary: () => ({ eventCountsByType: Object.fromEntries(counts), finalStatus }),
  };
}

/** False if a field holds an object in place of a name or a number, unless the field is included by name. */
function isPlain(value: unknown, name: string, include: readonly string[]): boolean {
  return include.includes(name) || typeof value !== 'object';
}
