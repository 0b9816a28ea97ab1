/** State of the projection between two rows. Plain JSON, as small as its open calls. */
import type { ThreadEvent } from '../../core/event/thread-event.ts';
import type { RowMessage } from '../row-message.ts';
import { spanOf } from '../trace/trace-projection.ts';
import { actionKey, bodyKey, type OpenExecution, toSpanId, toTraceId } from '../trace/trace-state.ts';
import { RUN_EVENT_VERSION, type RunEvent, type RunEventDraft, type RunEventType } from './run-event.ts';

/** Where the projection begins: at the start of the log, or of an execution. */
export interface RunBegin {
  readonly threadId: string;
  /** The thread's agent at that point; not needed at the start of the log, whose first row has it. */
  readonly agent?: string | null;
  /** The number of the row before the first one that will be read. */
  readonly after?: number;
}

export interface OpenAction {
  readonly id: string;
  readonly name: string;
  readonly step: number | null;
  readonly arguments?: unknown;
  /** Types of the events that were emitted for it; the others are derived from its `tool.*` rows. */
  readonly told?: readonly RunEventType[];
  /** The action as it was judged: its kind, its capabilities, its artifacts. */
  readonly prepared?: Readonly<Record<string, unknown>>;
  /** Sub-prompts around the call; absent for a call of the thread's own step. */
  readonly depth?: number | undefined;
  /** The decision of the policy about it. */
  readonly decision?: Readonly<Record<string, unknown>>;
  /** Id of the child that the call created. */
  readonly childId?: string;
}

/** The last answer that is not of a sub-prompt, kept until it is known whether calls follow it. */
export interface OpenAnswer {
  readonly messageId: string;
  readonly content: string | null;
  readonly step: number | null;
}

export interface RunArtifact {
  readonly id: string;
  readonly kind: string;
  readonly parts: readonly { readonly type: string; readonly content: unknown }[];
}

export interface OpenRun {
  readonly threadId: string;
  readonly runId: string;
  readonly executionId: string;
  readonly startedAt: number;
  readonly sequence: number;
  readonly context: Readonly<Record<string, unknown>> | null;
  readonly answer: OpenAnswer | null;
  readonly artifacts: readonly RunArtifact[];
  /** Open actions by call id. */
  readonly actions: Readonly<Record<string, OpenAction>>;
  /** Number of calls so far in the step `step`. */
  readonly asked: { readonly step: number | null; readonly count: number };
  /** Arguments of calls that were not emitted yet, by call id. */
  readonly arguments: Readonly<Record<string, string>>;
  /** What OpenTelemetry's spans show of the run: gives its events their ids, and its requests their times. */
  readonly spans: OpenExecution;
  /** The newest message so far: the row that refers to it follows. */
  readonly said: RowMessage | null;
}

export interface RunReading {
  readonly threadId: string;
  readonly agent: string | null;
  /** Number of the last row that was read. */
  readonly seq: number;
  readonly run: OpenRun | null;
}

/** ISO 8601, of microseconds since 1970. */
export const toTime = (at: number): string => new Date(at / 1000).toISOString();

export function beginReading({ threadId, agent = null, after = 0 }: RunBegin): RunReading {
  return { threadId, agent, seq: after, run: null };
}

/** The action within which another one was called: by its code, whose ids begin with its own, or by its sub-prompt. */
function findParent(run: OpenRun | null, id: string): string | null {
  const open = Object.values(run?.actions ?? {});
  const byCode = open
    .filter((each) => id.startsWith(`${each.id}:`))
    .sort((a, b) => b.id.length - a.id.length);
  const { depth = 0 } = open.find((each) => each.id === id) ?? {};
  const around = (each: OpenAction) =>
    each.told?.includes('action.started') && (each.depth ?? 0) === depth - 1;
  return (byCode[0] ?? open.findLast(around))?.id ?? null;
}

/** The span of an action: that of its call's newest body, or its own if code has invoked it. */
function actionKeyOf({ actions, spans }: OpenRun, id: string): string {
  const [callId, action] = Object.entries(actions).find(([, each]) => each.id === id) ?? [];
  return action && callId !== id ? bodyKey(spans, action.step ?? 0, callId ?? '') : actionKey(spans, id);
}

/**
 * Completes drafts to events, with their ids and their numbers in the run. `before`: the run before the row, which still
 * has the work that the row ends.
 */
export function completeDrafts(
  reading: RunReading,
  event: ThreadEvent,
  drafts: readonly RunEventDraft[],
  before: OpenRun | null = reading.run,
): readonly [RunReading, readonly RunEvent[]] {
  const { seq, at, step, type } = event;
  const { run } = reading;
  const work = run && { ...run, actions: { ...before?.actions, ...run.actions } };
  const place = run && spanOf(before?.spans ?? run.spans, event);
  const events = drafts.map((draft, n): RunEvent => {
    const action = draft.action ?? null;
    const parent = action === null ? null : findParent(run, action);
    const own = work && action !== null ? actionKeyOf(work, action) : place?.key;
    const above = work && parent !== null ? actionKeyOf(work, parent) : undefined;
    const around = action === null ? place?.parent : (above ?? run?.spans.place.key);
    return {
      event_id: `${reading.threadId}/${seq}.${n}`,
      version: RUN_EVENT_VERSION,
      type: draft.type,
      run_id: run?.runId ?? null,
      task_id: run?.executionId ?? null,
      agent_name: reading.agent,
      sequence: run ? run.sequence + n + 1 : null,
      step: step ?? null,
      span_id: own === undefined ? null : toSpanId(own),
      parent_span_id: around === undefined ? null : toSpanId(around),
      action_id: action,
      parent_action_id: parent,
      delegation_id: draft.delegation ?? null,
      severity: draft.severity ?? 'info',
      summary: draft.summary ?? null,
      payload: draft.payload,
      final: draft.final ?? false,
      metadata: {
        source_type: type,
        thread_id: reading.threadId,
        ...(run ? { trace_id: toTraceId(run.spans.place.trace) } : {}),
      },
      timestamp: toTime(at),
    };
  });
  return [run ? { ...reading, run: { ...run, sequence: run.sequence + events.length } } : reading, events];
}
