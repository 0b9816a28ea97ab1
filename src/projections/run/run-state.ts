/** What the reading of a run knows between two rows. Plain JSON, as small as its open calls. */
import type { ThreadEvent } from '../../core/event/thread-event.ts';
import type { Said } from '../row-message.ts';
import { RUN_EVENT_VERSION, type RunEvent, type RunEventDraft, type RunEventType } from './run-event.ts';

/** Where a reading begins: at the start of the log, or of an execution. */
export interface RunBegin {
  readonly threadId: string;
  /** The thread's agent there; the log's first row tells it. */
  readonly agent?: string | null;
  /** The number of the row before the first one that will be read. */
  readonly after?: number;
}

export interface OpenAction {
  readonly id: string;
  readonly name: string;
  readonly step: number | null;
  readonly arguments?: unknown;
  /** What has been told of it; the remainder is read off the rows of `tool.*`. */
  readonly told?: readonly RunEventType[];
  /** As it was judged: its kind, its capabilities, what is shown of it. */
  readonly prepared?: Readonly<Record<string, unknown>>;
  /** The child that the call made. */
  readonly childId?: string;
}

/** The last answer of the thread's own, until it is known whether calls follow. */
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
  /** By the id of the call. */
  readonly actions: Readonly<Record<string, OpenAction>>;
  /** Calls that the step `step` has asked for. */
  readonly asked: { readonly step: number | null; readonly count: number };
  /** Arguments of calls that are to be told of, by the id of the call. */
  readonly arguments: Readonly<Record<string, string>>;
  /** When the model was asked, by attempt and call. */
  readonly called: Readonly<Record<string, number>>;
  /** The message before this row. */
  readonly said: Said | null;
}

export interface RunReading {
  readonly threadId: string;
  readonly agent: string | null;
  /** The last row that was read. */
  readonly seq: number;
  readonly run: OpenRun | null;
}

export function beginReading({ threadId, agent = null, after = 0 }: RunBegin): RunReading {
  return { threadId, agent, seq: after, run: null };
}

/** Drafts with their places in the run. */
export function place(
  reading: RunReading,
  { seq, at, step, type }: ThreadEvent,
  drafts: readonly RunEventDraft[],
): readonly [RunReading, readonly RunEvent[]] {
  const { run } = reading;
  const events = drafts.map((draft, n): RunEvent => {
    const action = draft.action ?? null;
    return {
      event_id: `${reading.threadId}/${seq}.${n}`,
      version: RUN_EVENT_VERSION,
      type: draft.type,
      run_id: run?.runId ?? null,
      task_id: run?.executionId ?? null,
      agent_name: reading.agent,
      sequence: run ? run.sequence + n + 1 : null,
      step: step ?? null,
      span_id: action,
      parent_span_id: null,
      action_id: action,
      parent_action_id: null,
      delegation_id: draft.delegation ?? null,
      severity: draft.severity ?? 'info',
      summary: draft.summary ?? null,
      payload: draft.payload,
      final: draft.final ?? false,
      metadata: { source_type: type, thread_id: reading.threadId },
      timestamp: new Date(at / 1000).toISOString(),
    };
  });
  return [run ? { ...reading, run: { ...run, sequence: run.sequence + events.length } } : reading, events];
}
