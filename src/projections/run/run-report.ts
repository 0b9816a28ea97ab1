/** The report of a run: its events and what they tell, sorted by what it is. A pure reading: the same events give the same report. */
import type { RunEvent } from './run-event.ts';
import type { RedactionPolicy } from './run-redaction.ts';

/** JSON; fields are named as on Protolink's runtime page. */
export interface RunReport {
  readonly version: string;
  /** What the run was given to run with; null where nobody gave anything. */
  readonly context: Readonly<Record<string, unknown>> | null;
  readonly context_manifests: readonly Readonly<Record<string, unknown>>[];
  readonly events: readonly RunEvent[];
  /** Each action once, as its last event has it. */
  readonly actions: readonly Readonly<Record<string, unknown>>[];
  readonly approvals: readonly {
    readonly type: string;
    readonly request?: unknown;
    readonly decision?: unknown;
  }[];
  readonly artifacts: readonly unknown[];
  /** One for each answer of a model; the only place where its usage counts. */
  readonly metrics: readonly Readonly<Record<string, unknown>>[];
  /** Null while the run lasts. */
  readonly final_task: Readonly<Record<string, unknown>> | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The time of the last event; null where there is none. */
  readonly created_at: string | null;
}

export interface ReportOptions {
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Applied to all of the report. */
  readonly redaction?: RedactionPolicy;
}

/**
 * Sorts what a run has told, in the order of its events.
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

/** By id, in the order in which they were first told of, with the type of their last event. */
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
