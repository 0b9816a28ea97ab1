/**
 * Redacts a task's stream for readers that must not see its content. Answers, arguments, results, texts, addresses,
 * bodies and titles are hidden unless they are allowed by name. Numbers, kinds, ids and names of tools and models stay.
 */
import type { RuntimeStreamEvent } from './stream-event.ts';

export interface TelemetryOptions {
  /** Names of fields that are not hidden, such as `['args', 'title']`. */
  readonly include?: readonly string[];
}

const REDACTED_KEYS = new Set([
  'args',
  'body',
  'content',
  'data',
  'description',
  'error',
  'evidenceIds',
  'acquiredEvidenceIds',
  'impactIfUnknown',
  'message',
  'metadata',
  'question',
  'reason',
  'result',
  'resumeToken',
  'summary',
  'text',
  'title',
  'uri',
]);

/**
 * Returns a copy in which hidden fields are `[redacted]`.
 * @example
 * ```ts
 * const client = await RuntimeClient.connect();
 * for await (const { event } of client.tasks.events('t1')) console.log(toTelemetry(event, { include: ['reason'] }));
 * ```
 */
export function toTelemetry(
  event: RuntimeStreamEvent,
  { include = [] }: TelemetryOptions = {},
): RuntimeStreamEvent {
  return redact(event, new Set(include)) as RuntimeStreamEvent;
}

function redact(value: unknown, shown: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.map((each) => redact(each, shown));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      key,
      REDACTED_KEYS.has(key) && !shown.has(key) ? '[redacted]' : redact(each, shown),
    ]),
  );
}
