/** Tasks that authors write (docs/tasks.md): an adapter, the four phases of a task's loop. Types alone. */

import type { PreparedAction } from '../governance/prepared-action.ts';
import type { ControlEval, StuckGuards, TaskDecision, TaskVerdict } from '../task/control.ts';
import type { TaskEmission } from '../task/emission.ts';
import type {
  AcquisitionPlan,
  KnowledgeQuestion,
  KnowledgeReport,
  KnowledgeRequirement,
} from '../task/knowledge.ts';
import type { TaskSessions } from '../task/session.ts';
import type { AgentTaskSpec, TaskBudget } from '../task/spec.ts';
import type { AuthorSchema } from './definition.ts';

/** What became of one act, or of one question. */
export interface ActionOutcome {
  readonly ok: boolean;
  /** JSON: what `act` answered, or the answer of the question. */
  readonly result?: unknown;
  readonly error?: string;
  /** `ActOutcomeUnknown`: its worker was lost while it acted; it may have taken effect. `ActionDenied`: it was not done. Else that of what was thrown. */
  readonly code?: string;
  readonly costUsd?: number;
  readonly durationMs?: number;
}

/** One turn of the loop. States are as JSON has them. */
export interface TaskStep<State = unknown, Action = unknown> {
  readonly index: number;
  readonly decision: TaskDecision<Action>;
  readonly beforeState: State;
  readonly evalsBefore: readonly ControlEval[];
  /** Absent until it has been observed. */
  readonly afterState?: State;
  readonly evalsAfter?: readonly ControlEval[];
  readonly actionOutcome?: ActionOutcome;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly endedAt: number | null;
}

/** What every phase is given. */
export interface TaskContext<State = unknown, Action = unknown> {
  readonly task: AgentTaskSpec;
  readonly knowledge: KnowledgeReport;
  /** The newest steps, the oldest of them first: 50 at most. `stepIndex` counts all. */
  readonly history: readonly TaskStep<State, Action>[];
  /** Answers to what was asked before the loop began, by requirement. */
  readonly answers: Readonly<Record<string, unknown>>;
  /** Fires when the work is aborted. */
  readonly abortSignal: AbortSignal;
  /** Tells the task's stream and its run record of something. A phase that is tried again tells it again. */
  emit(event: TaskEmission): Promise<void>;
}

export interface ObservedContext<State = unknown, Action = unknown> extends TaskContext<State, Action> {
  readonly state: State;
}

export interface DecideContext<State = unknown, Action = unknown> extends ObservedContext<State, Action> {
  readonly evals: readonly ControlEval[];
  readonly budget: Required<Pick<TaskBudget, 'maxSteps' | 'maxWallMs'>> & Pick<TaskBudget, 'maxCostUsd'>;
  /** Steps before this one. */
  readonly stepIndex: number;
  /** Milliseconds at work so far. */
  readonly wallMs: number;
  readonly spentCostUsd: number;
  readonly remainingCostUsd?: number;
}

export interface ActContext<State = unknown, Action = unknown> extends DecideContext<State, Action> {
  /**
   * The same for each attempt at this action: hand it to the service that you call. An action that failed, or whose end is unknown, and is chosen
   * again has the same one; one that succeeded and is chosen again has another.
   */
  readonly idempotencyKey: string;
  /** An attempt before at this very act was lost with its worker: of a task that is `idempotent` alone. */
  readonly repeated: boolean;
  /** Sessions of backends. */
  readonly sessions: TaskSessions;
  /**
   * Starts a thread, or finds the one that an attempt before at this action has started under the same `key`; `decide` may wait for it, with
   * `{ kind: 'await', threadId }`. Rejects with `InvalidValue`.
   */
  startThread(thread: TaskThread): Promise<{ readonly threadId: string }>;
}

export interface TaskThread {
  readonly agent: string;
  /** What it is told first; at most 32 KiB. */
  readonly content: string;
  /** Tells threads of one action apart. */
  readonly key?: string;
}

/** What came of a thread that a step has waited for. */
export interface AwaitedThread {
  readonly threadId: string;
  /** `idle` where nothing went wrong. */
  readonly status: string;
  /** Its last words; null where it said nothing. */
  readonly text: string | null;
}

export interface CostContext<Action = unknown> {
  readonly task: AgentTaskSpec;
  readonly action: Action;
  readonly result: unknown;
  readonly stepIndex: number;
}

/** The end of a task, as it is put before `projectRunRecords`. */
export interface TaskControl extends TaskVerdict {
  readonly runId: string;
  readonly intent: string;
  readonly steps: number;
  readonly finalState: unknown;
  readonly finalEvals: readonly ControlEval[];
  readonly wallMs: number;
  readonly spentCostUsd: number;
  readonly runtimeErrors: readonly TaskRuntimeError[];
}

export interface TaskRuntimeError {
  readonly phase: TaskPhase;
  readonly stepIndex: number;
  readonly message: string;
}

export const TASK_PHASES = [
  'readiness',
  'observe',
  'validate',
  'shouldStop',
  'decide',
  'prepareAction',
  'act',
  'getActionCostUsd',
  'projectRunRecords',
  'rubric',
] as const;
export type TaskPhase = (typeof TASK_PHASES)[number];

/** What of a run is kept for those who compare runs: JSON; `scenarioId` is filled in. */
export interface TaskRunRecord {
  readonly scenarioId?: string;
  readonly [field: string]: unknown;
}

/** Code may answer at once, or later. */
export type Awaitable<Value> = Value | Promise<Value>;

/** Where what must be known comes from. Each is optional. */
export interface KnowledgeProvider {
  /** Instead of what the task says itself. */
  buildReadiness?(given: { readonly task: AgentTaskSpec }): Awaitable<readonly KnowledgeRequirement[]>;
  /** Answers by requirement. What it leaves out is asked of people, where the task asks. */
  answerQuestions?(given: {
    readonly task: AgentTaskSpec;
    readonly questions: readonly KnowledgeQuestion[];
  }): Awaitable<Readonly<Record<string, unknown>>>;
  /** Ids of the evidence that was found, by requirement. */
  executeAcquisitionPlans?(given: {
    readonly task: AgentTaskSpec;
    readonly plans: readonly AcquisitionPlan[];
  }): Awaitable<Readonly<Record<string, readonly string[]>>>;
  /** The requirements as they stand once something was answered or found. */
  refreshReadiness?(given: {
    readonly task: AgentTaskSpec;
    readonly answers: Readonly<Record<string, unknown>>;
    readonly evidence: Readonly<Record<string, readonly string[]>>;
  }): Awaitable<readonly KnowledgeRequirement[]>;
}

/** The domain's side of a task: the engine has the loop, the budgets, the waits and the records. */
export interface AgentAdapter<State = unknown, Action = unknown> {
  /** A snapshot of the domain, as JSON. It only reads: it may run more than once. */
  observe(context: TaskContext<State, Action>): Awaitable<State>;
  /** Measures the snapshot. It only reads. */
  validate?(context: ObservedContext<State, Action>): Awaitable<readonly ControlEval[]>;
  /** What to do next. It has no effect: a lost worker's is asked again. */
  decide(context: DecideContext<State, Action>): Awaitable<TaskDecision<Action>>;
  /** Does it: at most once, unless the task is `idempotent`. */
  act?(action: Action, context: ActContext<State, Action>): Awaitable<unknown>;
  /** Before each decision. Without it the task has passed once all evals do. */
  shouldStop?(context: DecideContext<State, Action>): Awaitable<{
    readonly stop: boolean;
    readonly pass?: boolean;
    readonly reason?: string;
    readonly score?: number;
  }>;
  /** What a task does whose knowledge is missing: without it, it is `blocked`. */
  onKnowledgeBlocked?(given: {
    readonly task: AgentTaskSpec;
    readonly knowledge: KnowledgeReport;
    readonly questions: readonly KnowledgeQuestion[];
    readonly acquisitionPlans: readonly AcquisitionPlan[];
  }): Awaitable<TaskDecision<Action>>;
  /** Of an act that has succeeded: a positive number counts. Of one that throws the `costUsd` of what it throws does. */
  getActionCostUsd?(context: CostContext<Action>): Awaitable<number | undefined>;
  /** What of the run is kept as its records. */
  projectRunRecords?(control: TaskControl, task: AgentTaskSpec): Awaitable<readonly TaskRunRecord[]>;
  /** What an action would do, before a policy judges it. It may run more than once, and has no effect. */
  prepareAction?(
    action: Action,
    context: DecideContext<State, Action>,
  ): Awaitable<PreparedAction | undefined>;
}

/** Settings of a task beside its adapter. */
export interface TaskSettings {
  /** For the models of agents that start it: what it is good for. */
  readonly toolDescription?: string;
  /** What its inputs must be where an agent starts it: a zod object schema, which models are shown. Without it, whatever the model gives. */
  readonly requiredSchema?: AuthorSchema;
  /** An agent of the project, whose `policy` judges what the task does. */
  readonly agent?: string;
  /** What an act needs to be allowed. */
  readonly capabilities?: readonly string[];
  /** A lost worker's act is done again. */
  readonly idempotent?: boolean;
  /** Milliseconds that an act may take; half an hour unless given. */
  readonly timeoutMs?: number;
  /** What an act that has failed means: the adapter observes it and goes on, or the task fails. */
  readonly onActError?: 'continue' | 'stop';
  /** Questions of the preflight wait for people; without it, what blocks ends the task as `blocked`. */
  readonly asks?: boolean;
  /** Milliseconds that an approval, or a question of the preflight, waits. */
  readonly waitTimeoutMs?: number;
  readonly guards?: StuckGuards;
  /** Below it, readiness is a caveat: 0.7 unless given. */
  readonly minimumReadinessScore?: number;
  /** For tasks that say nothing of their own. */
  readonly budget?: TaskBudget;
  readonly requiredKnowledge?: readonly KnowledgeRequirement[];
  readonly knowledge?: KnowledgeProvider;
}

export interface TaskDefinition extends TaskSettings {
  readonly kind: 'task';
  /** From the file's name; set by discovery. */
  readonly name: string;
  readonly adapter: AgentAdapter;
}
