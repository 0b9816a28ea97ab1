/**
 * RunEvent: what happens in a run, in the shape of Protolink's runtime page. It is JSON, so its fields are named as
 * there. Events are derived from the log and not stored; `event_id`, `sequence` and `timestamp` come from the log, and
 * are the same each time.
 */

export const RUN_EVENT_VERSION = '1.0';

export type RunEventType =
  | 'task.status'
  | 'task.artifact'
  | 'task.progress'
  | 'task.error'
  | 'llm.stream'
  | 'context.prepared'
  | 'llm.call.started'
  | 'llm.call.completed'
  | 'budget.warning'
  | 'budget.exceeded'
  | 'action.requested'
  | 'action.policy'
  | 'approval.required'
  | 'approval.decided'
  | 'action.denied'
  | 'action.started'
  | 'action.completed'
  | 'action.failed'
  /** A call was cut off by the cancellation of its run. */
  | 'action.canceled'
  /** Emitted by authors' code with `state.emit`. */
  | `app.${string}`;

export type RunSeverity = 'info' | 'warning' | 'error';

export type RunTaskState = 'submitted' | 'working' | 'input-required' | 'completed' | 'canceled' | 'failed';

export interface RunEvent {
  /** Derived from the log: `<thread>/<row>.<n>`. */
  readonly event_id: string;
  readonly version: string;
  readonly type: RunEventType;
  /** Run id of the execution's context, else the execution's id. Null between runs. */
  readonly run_id: string | null;
  /** The execution's id. */
  readonly task_id: string | null;
  readonly agent_name: string | null;
  /** From 1 within a run, without gaps while the log has all its rows. Null between runs. */
  readonly sequence: number | null;
  readonly step: number | null;
  readonly span_id: string | null;
  readonly parent_span_id: string | null;
  /** The tool's idempotency key. */
  readonly action_id: string | null;
  readonly parent_action_id: string | null;
  readonly delegation_id: string | null;
  readonly severity: RunSeverity;
  /** At most 140 characters of free text. */
  readonly summary: string | null;
  readonly payload: Readonly<Record<string, unknown>>;
  /** True for the last event of a run, and for no other. */
  readonly final: boolean;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** ISO 8601, UTC. */
  readonly timestamp: string;
}

/** An event of a row, before it has its id and its number in the run. */
export interface RunEventDraft {
  readonly type: RunEventType;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly summary?: string;
  readonly severity?: RunSeverity;
  readonly action?: string;
  readonly delegation?: string;
  readonly final?: boolean;
}

/** An event of the model loop for which the page has no separate type. */
export function llmStream(
  kind: string,
  payload: Readonly<Record<string, unknown>>,
  more: Partial<Omit<RunEventDraft, 'type' | 'payload'>> = {},
): RunEventDraft {
  return { type: 'llm.stream', payload: { llm_event_type: kind, ...payload }, ...more };
}

const MAX_TEXT_LENGTH = 140;

/** One line of at most 140 characters. */
export function shortText(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length <= MAX_TEXT_LENGTH ? line : `${line.slice(0, MAX_TEXT_LENGTH - 3)}...`;
}
