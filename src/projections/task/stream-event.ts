/** What a task's stream tells: its phases as they progress, what it asks, what its adapter tells of its work, and how it ended. */
import type { StoppedBy, TaskDecision, TaskEnd, TaskLimitName } from '../../core/task/control.ts';
import type { BackendErrorDetail, TaskEmission } from '../../core/task/emission.ts';
import type {
  AcquisitionPlan,
  KnowledgeQuestion,
  KnowledgeReport,
  ReadinessDecision,
} from '../../core/task/knowledge.ts';
import type { WaitKind } from '../../core/wait/wait.ts';

/** What is told beside each kind of event. */
export interface StreamEventData {
  task_start: { readonly task: { readonly id: string; readonly name: string; readonly intent: string } };
  readiness_start: object;
  readiness_end: {
    readonly decision: ReadinessDecision;
    /** Absent where nothing is required. */
    readonly knowledge?: Omit<KnowledgeReport, 'requirements'>;
  };
  questions_start: { readonly questions: readonly KnowledgeQuestion[] };
  /** Ids of requirements. */
  questions_end: { readonly requirementIds: readonly string[] };
  acquisition_start: { readonly acquisitionPlans: readonly AcquisitionPlan[] };
  acquisition_end: { readonly acquiredEvidenceIds: readonly string[] };
  control_start: object;
  /** A step has observed and measured; `failing`: ids of evals. */
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
    /** Of a failure that has one, as `final` has it. */
    readonly code?: string;
    readonly steps: number;
    readonly spentCostUsd: number;
    readonly wallMs: number;
  };
  /** It waits for a person; `waits list` shows what is asked. */
  waiting_start: { readonly waitId: string; readonly kind: WaitKind; readonly summary: string };
  waiting_end: { readonly waitId: string; readonly answered: boolean };
  /** A newer build runs it, with another manifest. */
  manifest_changed: { readonly from: string | null; readonly to: string | null };
  task_end: { readonly status: TaskEnd; readonly reason: string };
  /** Once, last. `text`: all that was told as `text_delta`. */
  final: {
    readonly status: TaskEnd;
    readonly reason: string;
    /** `WorkerCrashed`: a phase took its worker down again and again. `ProducerLost`: the process that had its adapter was lost. */
    readonly code?: string;
    readonly text?: string;
    /** Of a backend that has failed. */
    readonly error?: BackendErrorDetail;
  };
}

/** Narrow it by its `type`. */
export type RuntimeStreamEvent = {
  readonly taskId: string;
  /** ISO. */
  readonly timestamp: string;
} & (
  | {
      [Type in keyof StreamEventData]: { readonly type: Type } & StreamEventData[Type];
    }[keyof StreamEventData]
  | (TaskEmission & { readonly step: number })
);
