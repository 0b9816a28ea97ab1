/**
 * A task's stream for those who must not read what it is about: without answers, arguments, results, texts, addresses, bodies and titles, unless
 * they are let through by name. Numbers, kinds, ids and names of tools and models stay.
 */
import type { RuntimeStreamEvent } from './stream-event.ts';

export interface TelemetryOptions {
  /** Fields that may be read, such as `['args', 'title']`. */
  readonly include?: readonly string[];
}

const HIDDEN = new Set([
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
 * A copy; what is hidden is `[redacted]`.
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
  return hide(event, new Set(include)) as RuntimeStreamEvent;
}

function hide(value: unknown, shown: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.map((each) => hide(each, shown));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      key,
      HIDDEN.has(key) && !shown.has(key) ? '[redacted]' : hide(each, shown),
    ]),
  );
}
