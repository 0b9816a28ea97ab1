/** Events of a task's stream: progress of its phases, its questions, the events that its adapter emits, and its end. */
import type { StoppedBy, TaskDecision, TaskEnd, TaskLimitName } from '../../core/task/control.ts';
import type { BackendErrorDetail, TaskEmission } from '../../core/task/emission.ts';
import type {
  AcquisitionPlan,
  KnowledgeQuestion,
  KnowledgeReport,
  ReadinessDecision,
} from '../../core/task/knowledge.ts';
import type { WaitKind } from '../../core/wait/wait.ts';

/** Data by type of event. */
export interface StreamEventData {
  task_start: { readonly task: { readonly id: string; readonly name: string; readonly intent: string } };
  readiness_start: object;
  readiness_end: {
    readonly decision: ReadinessDecision;
    /** Absent if no knowledge is required. */
    readonly knowledge?: Omit<KnowledgeReport, 'requirements'>;
  };
  questions_start: { readonly questions: readonly KnowledgeQuestion[] };
  /** Ids of requirements. */
  questions_end: { readonly requirementIds: readonly string[] };
  acquisition_start: { readonly acquisitionPlans: readonly AcquisitionPlan[] };
  acquisition_end: { readonly acquiredEvidenceIds: readonly string[] };
  control_start: object;
  /** A step has observed and evaluated the state; `failing`: ids of the failed evals. */
  control_observed: {
    readonly step: number;
    readonly score: number | null;
    readonly failing: readonly string[];
  };
  control_decided: { readonly step: number; readonly decision: TaskDecision['kind'] };
  control_acting: { readonly step: number };
  /** A step is over. */
  control_step: {
    readonly step: number;
    readonly ok: boolean;
    readonly code?: string;
    readonly error?: string;
    readonly costUsd?: number;
    readonly spentCostUsd: number;
  };
  control_error: { readonly step: number; readonly phase: string; readonly message: string };
  control_end: {
    readonly stoppedBy: StoppedBy;
    readonly pass: boolean;
    readonly reason: string;
    readonly score?: number;
    readonly limit?: TaskLimitName;
    /** Error code, for a failure that has one; the same as in `final`. */
    readonly code?: string;
    readonly steps: number;
    readonly spentCostUsd: number;
    readonly wallMs: number;
  };
  /** The task waits for a person; `waits list` shows the question. */
  waiting_start: { readonly waitId: string; readonly kind: WaitKind; readonly summary: string };
  waiting_end: { readonly waitId: string; readonly answered: boolean };
  /** The task runs in a newer build now, with another manifest. */
  manifest_changed: { readonly from: string | null; readonly to: string | null };
  task_end: { readonly status: TaskEnd; readonly reason: string };
  /** Exactly once, as the last event. `text`: all text of `text_delta` events that was not discarded. */
  final: {
    readonly status: TaskEnd;
    readonly reason: string;
    /**
     * `WorkerCrashed`: a phase has repeatedly taken its worker down. `ProducerLost`: its adapter's process was lost.
     */
    readonly code?: string;
    readonly text?: string;
    /** Why a backend has failed. */
    readonly error?: BackendErrorDetail;
  };
}

/** Narrow it by its `type`. */
export type RuntimeStreamEvent = {
  readonly taskId: string;
  /** ISO 8601, UTC. */
  readonly timestamp: string;
} & (
  | {
      [Type in keyof StreamEventData]: { readonly type: Type } & StreamEventData[Type];
    }[keyof StreamEventData]
  | (TaskEmission & { readonly step: number })
);
