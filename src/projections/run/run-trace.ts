/**
 * Projects RunEvents as spans: one for the run, and below it one for each model request and each action. Pure: ids are
 * those of the events, so the same run gives the same spans, with the ids of OpenTelemetry's (projections/trace).
 */
import type { RunEvent } from './run-event.ts';

/** A piece of work with its start and end; JSON. */
export interface RunSpan {
  /** 32 hex digits. */
  readonly trace_id: string;
  /** 16 hex digits. */
  readonly span_id: string;
  /** Null for the first span of a trace. */
  readonly parent_span_id: string | null;
  readonly kind: 'run' | 'llm' | 'action';
  readonly name: string;
  readonly run_id: string;
  readonly task_id: string | null;
  readonly agent_name: string | null;
  /** ISO 8601, UTC. */
  readonly started_at: string;
  readonly ended_at: string;
  readonly duration_ms: number;
  readonly status: 'ok' | 'error' | 'canceled';
  readonly attributes: Readonly<Record<string, unknown>>;
}

export interface TraceReading {
  readonly run: RunEvent | null;
  /** First events of the spans that have not ended, by span. */
  readonly open: Readonly<Record<string, RunEvent>>;
}

export const NO_TRACE: TraceReading = { run: null, open: {} };

type TraceTransition = readonly [TraceReading, readonly RunSpan[]];
type Fields = Readonly<Record<string, unknown>>;

export function projectTrace(reading: TraceReading, event: RunEvent): TraceTransition {
  const { type, payload } = event;
  if (type === 'task.status' && event.sequence === 1) return [{ run: event, open: {} }, []];
  if (!reading.run) return [reading, []];
  const id = event.action_id ?? event.span_id ?? '';
  if (type.endsWith('.started')) return [{ ...reading, open: { ...reading.open, [id]: event } }, []];
  if (event.final) {
    const left = Object.values(reading.open).map((begun) => toSpan(reading, begun, event));
    return [NO_TRACE, [...left, toSpan(reading, reading.run, event)]];
  }
  const begun = reading.open[id];
  if (!begun || !ENDS.includes(type) || (type === 'llm.stream' && !FAILURES.includes(payload.llm_event_type)))
    return [reading, []];
  const { [id]: _, ...open } = reading.open;
  return [{ ...reading, open }, [toSpan(reading, begun, event)]];
}

const ENDS: readonly string[] = [
  'llm.call.completed',
  'llm.stream',
  'action.completed',
  'action.failed',
  'action.canceled',
];
const FAILURES: readonly unknown[] = ['llm_error', 'llm_retry'];

function toSpan({ run }: TraceReading, begun: RunEvent, ended: RunEvent): RunSpan {
  const isRun = begun === run;
  const kind = isRun ? 'run' : begun.action_id ? 'action' : 'llm';
  return {
    trace_id: String(begun.metadata.trace_id),
    span_id: begun.span_id ?? begun.event_id,
    parent_span_id: begun.parent_span_id,
    kind,
    name: isRun ? `run ${begun.agent_name ?? ''}`.trim() : spanName(begun),
    run_id: begun.run_id ?? '',
    task_id: begun.task_id,
    agent_name: begun.agent_name,
    started_at: begun.timestamp,
    ended_at: ended.timestamp,
    duration_ms: Date.parse(ended.timestamp) - Date.parse(begun.timestamp),
    status: statusOf(ended),
    attributes: ended.final && !isRun ? { cut_off: true } : ended.payload,
  };
}

function spanName({ payload }: RunEvent): string {
  const action = payload.action as Fields | undefined;
  return String(action?.name ?? payload.model ?? 'call');
}

function statusOf({ severity, type, payload }: RunEvent): RunSpan['status'] {
  if (payload.new_state === 'canceled' || type === 'action.canceled') return 'canceled';
  if (payload.new_state === 'failed' || severity !== 'info' || type === 'action.failed') return 'error';
  return 'ok';
}
