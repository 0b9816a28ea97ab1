/** Builds the report of a run: its events, and their content by subject. Pure: the same events give the same report. */
import type { RunEvent } from './run-event.ts';
import type { RedactionPolicy } from './run-redaction.ts';

/** JSON; fields are named as on Protolink's runtime page. */
export interface RunReport {
  readonly version: string;
  /** The context of the run; null if none was given. */
  readonly context: Readonly<Record<string, unknown>> | null;
  readonly context_manifests: readonly Readonly<Record<string, unknown>>[];
  readonly events: readonly RunEvent[];
  /** Each action once, in the state of its last event. */
  readonly actions: readonly Readonly<Record<string, unknown>>[];
  readonly approvals: readonly {
    readonly type: string;
    readonly request?: unknown;
    readonly decision?: unknown;
  }[];
  readonly artifacts: readonly unknown[];
  /** One entry per answer of a model; usage is counted only here. */
  readonly metrics: readonly Readonly<Record<string, unknown>>[];
  /** Null until the run has ended. */
  readonly final_task: Readonly<Record<string, unknown>> | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The time of the last event; null if there is none. */
  readonly created_at: string | null;
}

export interface ReportOptions {
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Applied to the whole report. */
  readonly redaction?: RedactionPolicy;
}

/**
 * Builds the report of a run from its events; each list is in their order.
 * @example
 * ```ts
 * const events = [];
 * for await (const told of client.events(threadId, { as: 'run', run: 'execution-1' })) events.push(told.event);
 * const { actions, final_task } = toRunReport(events, { redaction: new RedactionPolicy() });
 * ```
 */
export function toRunReport(events: readonly RunEvent[], options: ReportOptions = {}): RunReport {
  const { metadata = {}, redaction } = options;
  const of = (type: string) => events.filter((event) => event.type === type);
  const [first] = events;
  const report: RunReport = {
    version: '1.0',
    context:
      (of('task.status')[0]?.payload.run_context as Readonly<Record<string, unknown>> | undefined) ?? null,
    context_manifests: of('context.prepared').map(
      ({ payload }) => payload.manifest as Readonly<Record<string, unknown>>,
    ),
    events,
    actions: readActions(events),
    approvals: events
      .filter(({ type }) => type.startsWith('approval.'))
      .map(({ type, payload: { request, decision } }) => ({
        type,
        ...(request === undefined ? {} : { request }),
        ...(decision === undefined ? {} : { decision }),
      })),
    artifacts: of('task.artifact').map(({ payload }) => payload.artifact),
    metrics: of('llm.stream')
      .filter(({ payload }) => payload.llm_event_type === 'llm_call_metrics')
      .map(({ payload, step }) => ({ step, ...(payload.metrics as Readonly<Record<string, unknown>>) })),
    final_task:
      (events.findLast(({ final }) => final)?.payload.task as
        | Readonly<Record<string, unknown>>
        | undefined) ?? null,
    metadata: {
      run_id: first?.run_id ?? null,
      task_id: first?.task_id ?? null,
      thread_id: first?.metadata.thread_id ?? null,
      agent_name: first?.agent_name ?? null,
      ...metadata,
    },
    created_at: events.at(-1)?.timestamp ?? null,
  };
  return redaction ? redaction.redact(report) : report;
}

/** Returns each action once, in the order of their first events, with the type of its last event as `status`. */
function readActions(events: readonly RunEvent[]): Readonly<Record<string, unknown>>[] {
  const found = new Map<string, Readonly<Record<string, unknown>>>();
  for (const { type, action_id: id, payload } of events) {
    if (!type.startsWith('action.') || id === null) continue;
    const before = found.get(id);
    const action = payload.action as Readonly<Record<string, unknown>> | undefined;
    found.set(id, { ...before, ...action, status: type.slice('action.'.length) });
  }
  return [...found.values()];
}
