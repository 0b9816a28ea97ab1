/**
 * Tasks (docs/tasks.md): their specification, the steps of their loops, and their ends. A task has a row of its own
 * beside that of its thread. The thread's id is `task/` plus the task's id; its log, waits and actions are stored under
 * that. Times are microseconds since 1970.
 */
import type { ActionOutcome, TaskRunRecord, TaskRuntimeError } from '../../core/author/task.ts';
import type { EventData } from '../../core/event/thread-event.ts';
import type { GivenContext } from '../../core/governance/run-context.ts';
import type { ControlEval, Measured, TaskDecision, TaskEnd, TaskVerdict } from '../../core/task/control.ts';
import type { KnowledgeRequirement } from '../../core/task/knowledge.ts';
import type { TaskSession } from '../../core/task/session.ts';
import type { AgentTaskSpec } from '../../core/task/spec.ts';
import type { Flag, Json } from '../schema/column.ts';
import type { FromRun } from '../transaction/from-run.ts';

/** Times are microseconds since 1970. */
export interface TaskRecord {
  readonly id: string;
  /** `task/` plus the id of the task. */
  readonly threadId: string;
  /** Name of its definition in agents/tasks. */
  readonly name: string;
  readonly spec: AgentTaskSpec;
  readonly scenarioId: string | null;
  /** Hash of the manifest that it runs with; null if no manifest names it. */
  readonly manifest: string | null;
  readonly userId: string | null;
  /** The thread whose agent or code has started it; null if none has. */
  readonly parentId: string | null;
  readonly status: 'running' | 'waiting' | TaskEnd;
  /** Null until its loop has decided how the task ends. */
  readonly verdict: TaskVerdict | null;
  readonly requirements: readonly KnowledgeRequirement[];
  /** Answers by requirement. */
  readonly answers: Readonly<Record<string, unknown>>;
  /** State of the check of what must be known: `asked` if people are asked, `over` if the loop begins. */
  readonly preflight: 'due' | 'asked' | 'over';
  /** Number of steps that are over. */
  readonly steps: number;
  readonly spentCostUsd: number;
  /** Milliseconds that the task has worked so far. */
  readonly wallMs: number;
  readonly errors: readonly TaskRuntimeError[];
  readonly records: readonly TaskRunRecord[] | null;
  readonly createdAt: number;
  readonly endedAt: number | null;
}

export interface TaskStepRecord {
  readonly step: number;
  readonly state: unknown;
  readonly evals: readonly ControlEval[];
  readonly score: number | null;
  readonly decision: TaskDecision | null;
  readonly act: 'scheduled' | 'started' | 'over' | null;
  readonly outcome: ActionOutcome | null;
  readonly costUsd: number;
  readonly startedAt: number;
  readonly endedAt: number | null;
}

/** What a new task begins with. */
export interface NewTask {
  /** Name of its definition in agents/tasks. */
  readonly name: string;
  readonly spec: AgentTaskSpec;
  readonly scenarioId: string | null;
  readonly requirements: readonly KnowledgeRequirement[];
  /** `over` if nothing is required: the loop begins at once. */
  readonly preflight: 'due' | 'over';
}

export interface OpenTask extends FromRun {
  readonly mustExist: boolean;
  /** Hash of the manifest that the worker's project has for the task; null if none names it. */
  readonly manifest: string | null;
  /** Absent if the task has run before. */
  readonly start?: NewTask & {
    readonly userId: string | null;
    readonly organizationId?: string | null;
  };
}

export type OpenedTask =
  /** `rootId`: root of its family; its own `threadId` if it has no parent. */
  | { readonly kind: 'open'; readonly task: TaskRecord; readonly rootId: string }
  | { readonly kind: 'over'; readonly task: TaskRecord };

/** The part of a task's loop that a step needs. */
export interface TaskLoop {
  readonly task: TaskRecord;
  /** The context that its parent started it with, which restricts what it may do. */
  readonly context: GivenContext | null;
  /** The newest steps, oldest first. */
  readonly steps: readonly TaskStepRecord[];
  /** Fingerprints and scores of the newest observations, and the chosen actions: as many as requested, newest last. */
  readonly measured: readonly Measured[];
  readonly actions: readonly (string | null)[];
}

export interface SaveReadiness extends FromRun {
  readonly requirements: readonly KnowledgeRequirement[];
  readonly answers: Readonly<Record<string, unknown>>;
  /** Events to log, in this order. */
  readonly events: readonly TaskEvent[];
  /** `asked`: questions are about to be opened. `over`: the loop begins, or `verdict` ends the task. */
  readonly preflight: 'asked' | 'over';
  readonly verdict?: TaskVerdict;
}

export type TaskEvent = {
  [Kind in Extract<keyof EventData, `task.${string}`>]: {
    readonly type: Kind;
    readonly data: EventData[Kind];
  };
}[Extract<keyof EventData, `task.${string}`>];

export interface SaveObservation extends FromRun {
  readonly step: number;
  /** JSON text, as its phase has returned it. */
  readonly state: string;
  readonly fingerprint: string;
  readonly evals: readonly ControlEval[];
  readonly score: number | null;
}

export interface SaveDecision extends FromRun {
  readonly step: number;
  /** Absent if the verdict does not come from the adapter. */
  readonly decision?: TaskDecision;
  /** Fingerprint of the action. */
  readonly action?: string;
  readonly verdict?: TaskVerdict;
  /** Set if a phase failed. */
  readonly error?: TaskRuntimeError;
}

export interface BeginAct extends FromRun {
  readonly step: number;
  /** Unique name of the attempt. */
  readonly attempt: string;
  /** True if the act may begin although another attempt has begun it. */
  readonly again: boolean;
}

export type BegunAct =
  /** `repeated`: an earlier attempt has begun it. */
  | { readonly kind: 'run'; readonly idempotencyKey: string; readonly repeated: boolean }
  /**
   * Nothing to run. The act is over; or the budget of whoever started the task denies it, and the task's verdict is
   * stored; or its worker was lost, and its outcome is unknown from now on.
   */
  | { readonly kind: 'settled' }
  | { readonly kind: 'terminated' };

export interface EndAct {
  readonly threadId: string;
  readonly step: number;
  /** The attempt that holds the act; absent if the act never began: it was refused, or is a question. */
  readonly attempt?: string;
  readonly outcome: ActionOutcome;
  readonly errors?: readonly TaskRuntimeError[];
}

export interface EndTask extends FromRun {
  readonly verdict: TaskVerdict;
  readonly records: readonly TaskRunRecord[] | null;
  readonly errors: readonly TaskRuntimeError[];
}

export interface ListTasks {
  readonly name?: string;
  readonly status?: TaskRecord['status'];
  readonly userId?: string;
  readonly organizationId?: string;
  /** The last task of the previous page: the list continues after it. */
  readonly before?: Pick<TaskRecord, 'id' | 'createdAt'>;
  /** Default 50. */
  readonly limit?: number;
}

export interface PutSession extends Pick<TaskSession, 'id' | 'backend' | 'status' | 'resumeToken'> {
  /** Thread of the task. */
  readonly threadId: string;
}

export interface TaskTable {
  /** `task/` plus the id of the task. */
  thread_id: string;
  /** Name of its definition in agents/tasks. */
  name: string;
  /** An AgentTaskSpec. */
  spec: Json;
  scenario_id: string | null;
  /** Hash of the manifest that it runs with; null if no manifest names it. */
  manifest: string | null;
  status: 'running' | 'waiting' | TaskEnd;
  /** A TaskVerdict, once the loop has decided how the task ends. */
  verdict: Json | null;
  /** Its requirements as they are now, and the answers by requirement. */
  requirements: Json;
  answers: Json;
  /** State of the check of what must be known: `asked` if people are asked, `over` if the loop begins. */
  preflight: 'due' | 'asked' | 'over';
  /** Number of steps that are over. */
  steps: number;
  /** 10⁻¹² US dollars. */
  spent_pico: bigint;
  /** Microseconds that the task has worked; `active_since` is set while it works. */
  worked: number;
  active_since: number | null;
  /** TaskRuntimeErrors. */
  errors: Json;
  /** Result of the adapter's `projectRunRecords`. */
  records: Json | null;
  created_at: number;
  ended_at: number | null;
}

/** One step of a task's loop: the observation, the decision, and its outcome. */
export interface TaskStepTable {
  thread_id: string;
  step: number;
  state: Json;
  evals: Json;
  /** Fingerprint of the state. */
  fingerprint: string;
  score: number | null;
  decision: Json | null;
  /** Fingerprint of the action. */
  action: string | null;
  /** State of the act: `scheduled` until it begins. Null if there is nothing to do. */
  act: 'scheduled' | 'started' | 'over' | null;
  /** The attempt that holds the act. */
  attempt: string | null;
  outcome: Json | null;
  /** 1 if the act succeeded: the same action chosen again then gets a new idempotency key. */
  ok: Flag;
  /** 10⁻¹² US dollars. */
  cost_pico: bigint;
  started_at: number;
  act_started_at: number | null;
  ended_at: number | null;
}

/** Manifests that tasks have run with, by the hash of their content. */
export interface ManifestTable {
  hash: string;
  /** A ManifestDocument. */
  document: Json;
  created_at: number;
}

/** Sessions of backends, by their owner and id. */
export interface TaskSessionTable {
  /** Owner of the session: an organisation, a user, or empty. */
  owner: string;
  id: string;
  /** The kind of the backend. */
  backend: string;
  status: TaskSession['status'];
  resume_token: string | null;
  created_at: number;
  updated_at: number;
}

export interface TaskTables {
  task_sessions: TaskSessionTable;
  manifests: ManifestTable;
  tasks: TaskTable;
  task_steps: TaskStepTable;
}
