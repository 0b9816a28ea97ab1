/**
 * Tasks (docs/tasks.md): what they are asked to be, the steps of their loops, and their ends. A task is a row of its own beside that of its thread,
 * `task/` and its id, under which stand its log, its waits and its actions.
 */
import type { ManifestDocument } from '../../core/author/manifest.ts';
import type { ActionOutcome, TaskRunRecord, TaskRuntimeError } from '../../core/author/task.ts';
import type { EventData } from '../../core/event/thread-event.ts';
import type { GivenContext } from '../../core/governance/run-context.ts';
import type { ControlEval, Measured, TaskDecision, TaskEnd, TaskVerdict } from '../../core/task/control.ts';
import type { KnowledgeRequirement } from '../../core/task/knowledge.ts';
import type { TaskSession } from '../../core/task/session.ts';
import type { AgentTaskSpec } from '../../core/task/spec.ts';
import type { FromRun } from './run.ts';

/** Times are microseconds since 1970. */
export interface TaskRecord {
  readonly id: string;
  /** `task/` and its id. */
  readonly threadId: string;
  /** Of agents/tasks. */
  readonly name: string;
  readonly spec: AgentTaskSpec;
  readonly scenarioId: string | null;
  /** The hash of the manifest that it runs with; null where none names it. */
  readonly manifest: string | null;
  readonly userId: string | null;
  /** The thread whose agent or code has started it; null where nobody's has. */
  readonly parentId: string | null;
  readonly status: 'running' | 'waiting' | TaskEnd;
  /** Null until its loop knows how it ends. */
  readonly verdict: TaskVerdict | null;
  readonly requirements: readonly KnowledgeRequirement[];
  /** By requirement. */
  readonly answers: Readonly<Record<string, unknown>>;
  /** What must be known is looked at: `asked` of people, or `over`, and the loop begins. */
  readonly preflight: 'due' | 'asked' | 'over';
  /** Steps that are over. */
  readonly steps: number;
  readonly spentCostUsd: number;
  /** Milliseconds at work, by now. */
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

/** What a task begins with. */
export interface NewTask {
  /** Of agents/tasks. */
  readonly name: string;
  readonly spec: AgentTaskSpec;
  readonly scenarioId: string | null;
  readonly requirements: readonly KnowledgeRequirement[];
  /** Nothing is required where it is `over`: the loop begins at once. */
  readonly preflight: 'due' | 'over';
}

export interface OpenTask extends FromRun {
  readonly mustExist: boolean;
  /** The hash of the manifest that the worker's project has for it. */
  readonly manifest: string | null;
  /** Absent where it has run before. */
  readonly start?: NewTask & {
    readonly userId: string | null;
    readonly organizationId?: string | null;
  };
}

export type OpenedTask =
  /** `rootId`: of its family; its own `threadId` where it has no parent. */
  | { readonly kind: 'open'; readonly task: TaskRecord; readonly rootId: string }
  | { readonly kind: 'over'; readonly task: TaskRecord };

/** As much of a task's loop as a step needs. */
export interface TaskLoop {
  readonly task: TaskRecord;
  /** What it was started with by its parent: it narrows what it may do. */
  readonly context: GivenContext | null;
  /** The newest steps, the oldest of them first. */
  readonly steps: readonly TaskStepRecord[];
  /** Fingerprints and scores of the newest observations, and the actions that were chosen, as many as were asked for; the newest last. */
  readonly measured: readonly Measured[];
  readonly actions: readonly (string | null)[];
}

export interface KeepReadiness extends FromRun {
  readonly requirements: readonly KnowledgeRequirement[];
  readonly answers: Readonly<Record<string, unknown>>;
  /** What is told of it, in this order. */
  readonly events: readonly TaskEvent[];
  /** `asked`: questions are about to be open. `over`: the loop begins, or `verdict` ends it. */
  readonly preflight: 'asked' | 'over';
  readonly verdict?: TaskVerdict;
}

export type TaskEvent = {
  [Kind in Extract<keyof EventData, `task.${string}`>]: {
    readonly type: Kind;
    readonly data: EventData[Kind];
  };
}[Extract<keyof EventData, `task.${string}`>];

export interface KeepObservation extends FromRun {
  readonly step: number;
  /** JSON text, as its phase has answered. */
  readonly state: string;
  readonly fingerprint: string;
  readonly evals: readonly ControlEval[];
  readonly score: number | null;
}

export interface KeepDecision extends FromRun {
  readonly step: number;
  /** Absent where the verdict is not the adapter's. */
  readonly decision?: TaskDecision;
  /** The fingerprint of the action. */
  readonly action?: string;
  readonly verdict?: TaskVerdict;
  /** Of a phase that failed. */
  readonly error?: TaskRuntimeError;
}

export interface BeginAct extends FromRun {
  readonly step: number;
  /** The attempt's own name. */
  readonly attempt: string;
  /** It may begin although another attempt has begun it. */
  readonly again: boolean;
}

export type BegunAct =
  /** `repeated`: an attempt before has begun it. */
  | { readonly kind: 'run'; readonly idempotencyKey: string; readonly repeated: boolean }
  /** Over, denied by the budget of whoever has started the task: then its verdict is kept; or lost with its worker: then its outcome is unknown from now on. */
  | { readonly kind: 'settled' }
  | { readonly kind: 'terminated' };

export interface EndAct {
  readonly threadId: string;
  readonly step: number;
  /** The one that holds the act; absent where nothing has begun: it was refused, or asked. */
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
  /** Those behind this one: the last one of the page before. */
  readonly before?: Pick<TaskRecord, 'id' | 'createdAt'>;
  /** 50 unless given. */
  readonly limit?: number;
}

export interface PutSession extends Pick<TaskSession, 'id' | 'backend' | 'status' | 'resumeToken'> {
  /** Of the task. */
  readonly threadId: string;
}

export interface TaskStore {
  /** A session of the task's owner; null where there is none. */
  getSession(threadId: string, id: string): Promise<TaskSession | null>;
  /** Rejects with `InvalidValue`. */
  putSession(command: PutSession): Promise<TaskSession>;
  /** Opens the task for a run, which is the one that may write from now on; makes it at its very first. The same run again changes nothing. */
  open(command: OpenTask): Promise<OpenedTask>;
  /** Keeps a manifest by its hash; the same again changes nothing. */
  keepManifest(hash: string, document: ManifestDocument): Promise<void>;
  /** The manifest that a task runs with from now on; event `task.manifest` where it is another one than before. */
  noteManifest(command: FromRun & { readonly manifest: string | null }): Promise<void>;
  /** By its hash, or at least 8 of its first digits; null where there is none, or more than one. */
  getManifest(hash: string): Promise<{ readonly hash: string; readonly document: ManifestDocument } | null>;
  get(id: string): Promise<TaskRecord | null>;
  /** The latest first. */
  list(options?: ListTasks): Promise<readonly TaskRecord[]>;
  /** In order, from this one on; 100 unless a limit is given. */
  listSteps(id: string, from?: number, limit?: number): Promise<readonly TaskStepRecord[]>;
  /** Rejects with `ThreadNotFound`. `looks`: how many observations and actions the stuck guards look at. */
  readLoop(threadId: string, looks: number): Promise<TaskLoop>;
  /** What is known before the loop begins. The same preflight again changes nothing. */
  keepReadiness(command: KeepReadiness): Promise<{ readonly kind: 'kept' | 'terminated' }>;
  /** The first observation of a step is kept; another one of the same step is `known`, and changes nothing. */
  keepObservation(command: KeepObservation): Promise<{ readonly kind: 'kept' | 'known' | 'terminated' }>;
  /** As `keepObservation`, of its decision, or of the verdict that ends the task: the first one counts, and `known` is told of any other. */
  keepDecision(command: KeepDecision): Promise<{ readonly kind: 'kept' | 'known' | 'terminated' }>;
  beginAct(command: BeginAct): Promise<BegunAct>;
  /** True whoever asked for it; what another attempt holds, or is over, stays as it is. */
  endAct(command: EndAct): Promise<void>;
  /** It waits for people, or goes on: what it waits is no work. */
  rest(command: FromRun & { readonly waits: boolean }): Promise<void>;
  /** Tells of something that its adapter emitted. On a task that is over, nothing. */
  emit(threadId: string, step: number, events: readonly TaskEvent[]): Promise<void>;
  /** The first end is kept. Its waits are closed. */
  end(command: EndTask): Promise<TaskRecord>;
}
