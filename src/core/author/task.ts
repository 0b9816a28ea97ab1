/** Tasks that authors write (docs/tasks.md): an adapter implements the four phases of a task's loop. Types alone. */

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
import type { AuthorSchema } from './author-schema.ts';

/** The outcome of one act, or of one question. */
export interface ActionOutcome {
  readonly ok: boolean;
  /** JSON: the result of `act`, or the answer to the question. */
  readonly result?: unknown;
  readonly error?: string;
  /**
   * `ActOutcomeUnknown`: the worker was lost during the act, which may have taken effect. `ActionDenied`: it was not
   * done. Otherwise the code of the error.
   */
  readonly code?: string;
  readonly costUsd?: number;
  readonly durationMs?: number;
}

/** One iteration of the loop. States are JSON. */
export interface TaskStep<State = unknown, Action = unknown> {
  readonly index: number;
  readonly decision: TaskDecision<Action>;
  readonly beforeState: State;
  readonly evalsBefore: readonly ControlEval[];
  /** Absent until the state after the step has been observed. */
  readonly afterState?: State;
  readonly evalsAfter?: readonly ControlEval[];
  readonly actionOutcome?: ActionOutcome;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly endedAt: number | null;
}

/** Passed to every phase. */
export interface TaskContext<State = unknown, Action = unknown> {
  readonly task: AgentTaskSpec;
  readonly knowledge: KnowledgeReport;
  /** The newest steps, at most 50, oldest first. `stepIndex` counts all steps. */
  readonly history: readonly TaskStep<State, Action>[];
  /** Answers to the questions that were asked before the loop began, by requirement. */
  readonly answers: Readonly<Record<string, unknown>>;
  /** Fires when the work is aborted. */
  readonly abortSignal: AbortSignal;
  /** Adds an event to the task's stream and run record. A phase that is retried adds it again. */
  emit(event: TaskEmission): Promise<void>;
}

export interface ObservedContext<State = unknown, Action = unknown> extends TaskContext<State, Action> {
  readonly state: State;
}

export interface DecideContext<State = unknown, Action = unknown> extends ObservedContext<State, Action> {
  readonly evals: readonly ControlEval[];
  readonly budget: Required<Pick<TaskBudget, 'maxSteps' | 'maxWallMs'>> & Pick<TaskBudget, 'maxCostUsd'>;
  /** Number of steps before this one. */
  readonly stepIndex: number;
  /** Working time so far, in milliseconds. */
  readonly wallMs: number;
  readonly spentCostUsd: number;
  readonly remainingCostUsd?: number;
}

export interface ActContext<State = unknown, Action = unknown> extends DecideContext<State, Action> {
  /**
   * Idempotency key: the same for each attempt at this action. Pass it to the service that you call. If an action
   * failed, or its end is unknown, and it is chosen again, the key is the same; if it succeeded and is chosen again,
   * the key differs.
   */
  readonly idempotencyKey: string;
  /** True if an earlier attempt at this very act was lost with its worker; only for a task that is `idempotent`. */
  readonly repeated: boolean;
  /** Sessions of backends. */
  readonly sessions: TaskSessions;
  /**
   * Starts a thread, or finds the one that an earlier attempt at this action has started under the same `key`. `decide`
   * may wait for it with `{ kind: 'await', threadId }`. Rejects with `InvalidValue`.
   */
  startThread(thread: TaskThread): Promise<{ readonly threadId: string }>;
}

export interface TaskThread {
  readonly agent: string;
  /** The first message to the thread; at most 32 KiB. */
  readonly content: string;
  /** The type of the answer: a JSON schema of an object, as in a message of a client. */
  readonly output?: Readonly<Record<string, unknown>>;
  /** Distinguishes the threads of one action. */
  readonly key?: string;
}

/** The outcome of a thread that a step has waited for. */
export interface AwaitedThread {
  readonly threadId: string;
  /** `idle` if nothing went wrong. */
  readonly status: string;
  /** Text of its last answer; null if it has none. */
  readonly text: string | null;
  /** Its typed answer; absent if it has none. */
  readonly output?: Readonly<Record<string, unknown>>;
}

export interface CostContext<Action = unknown> {
  readonly task: AgentTaskSpec;
  readonly action: Action;
  readonly result: unknown;
  readonly stepIndex: number;
}

/** The end of a task, as passed to `projectRunRecords`. */
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

/** A record that a run leaves, for comparing runs: JSON. `scenarioId` is filled in if absent. */
export interface TaskRunRecord {
  readonly scenarioId?: string;
  readonly [field: string]: unknown;
}

/** A value, or a promise of it. */
export type Awaitable<Value> = Value | Promise<Value>;

/** Supplies what a task must know. Each method is optional. */
export interface KnowledgeProvider {
  /** Returns the requirements, which replace those that the task itself states. */
  buildReadiness?(given: { readonly task: AgentTaskSpec }): Awaitable<readonly KnowledgeRequirement[]>;
  /** Returns answers by requirement. Questions that it leaves open are put to people, if the task has `asks`. */
  answerQuestions?(given: {
    readonly task: AgentTaskSpec;
    readonly questions: readonly KnowledgeQuestion[];
  }): Awaitable<Readonly<Record<string, unknown>>>;
  /** Returns the ids of the evidence that was found, by requirement. */
  executeAcquisitionPlans?(given: {
    readonly task: AgentTaskSpec;
    readonly plans: readonly AcquisitionPlan[];
  }): Awaitable<Readonly<Record<string, readonly string[]>>>;
  /** Returns the requirements after something was answered or found. */
  refreshReadiness?(given: {
    readonly task: AgentTaskSpec;
    readonly answers: Readonly<Record<string, unknown>>;
    readonly evidence: Readonly<Record<string, readonly string[]>>;
  }): Awaitable<readonly KnowledgeRequirement[]>;
}

/**
 * The domain-specific part of a task; the engine provides the loop, the budgets, the waits and the records. The type of
 * the state is what `observe` returns, that of an action what `decide` chooses: so neither can be known in the history
 * that these receive.
 */
export interface AgentAdapter<State = unknown, Action = unknown> {
  /** Returns a snapshot of the domain, as JSON. It must only read: it may run more than once. */
  observe(context: TaskContext): Awaitable<State>;
  /** Measures the snapshot. It must only read. */
  validate?(context: ObservedContext<State>): Awaitable<readonly ControlEval[]>;
  /** Returns what to do next. It must have no effect: if its worker is lost, it runs again. */
  decide(context: DecideContext<State>): Awaitable<TaskDecision<Action>>;
  /** Executes the action: at most once, unless the task is `idempotent`. */
  act?(action: Action, context: ActContext<State, Action>): Awaitable<unknown>;
  /** Called before each decision. Without it, the task has passed once all evals pass. */
  shouldStop?(context: DecideContext<State, Action>): Awaitable<{
    readonly stop: boolean;
    readonly pass?: boolean;
    readonly reason?: string;
    readonly score?: number;
  }>;
  /** Decides what to do if required knowledge is missing; without it, the task ends as `blocked`. */
  onKnowledgeBlocked?(given: {
    readonly task: AgentTaskSpec;
    readonly knowledge: KnowledgeReport;
    readonly questions: readonly KnowledgeQuestion[];
    readonly acquisitionPlans: readonly AcquisitionPlan[];
  }): Awaitable<TaskDecision<Action>>;
  /** Returns the cost of an act that succeeded, if positive. If an act throws, `costUsd` of the error counts. */
  getActionCostUsd?(context: CostContext<Action>): Awaitable<number | undefined>;
  /** Returns the records to keep of the run. */
  projectRunRecords?(control: TaskControl, task: AgentTaskSpec): Awaitable<readonly TaskRunRecord[]>;
  /** Describes what an action would do, before a policy judges it. May run more than once; must have no effect. */
  prepareAction?(
    action: Action,
    context: DecideContext<State, Action>,
  ): Awaitable<PreparedAction | undefined>;
}

/** Settings of a task besides its adapter. */
export interface TaskSettings {
  /** What the task is good for, for the models of agents that may start it. */
  readonly toolDescription?: string;
  /** Zod schema of the inputs if an agent starts the task, shown to models. If absent, any inputs are accepted. */
  readonly requiredSchema?: AuthorSchema;
  /** An agent of the project, whose `policy` judges the task's actions. */
  readonly agent?: string;
  /** Capabilities that an act needs. */
  readonly capabilities?: readonly string[];
  /** True if an act may be repeated after its worker was lost. */
  readonly idempotent?: boolean;
  /** Milliseconds that an act may take; default half an hour. */
  readonly timeoutMs?: number;
  /** What follows a failed act: `continue` lets the adapter observe it and go on; `stop` fails the task. */
  readonly onActError?: 'continue' | 'stop';
  /** True if preflight questions wait for people; otherwise missing knowledge ends the task as `blocked`. */
  readonly asks?: boolean;
  /** Milliseconds that an approval, or a question of the preflight, stays open. */
  readonly waitTimeoutMs?: number;
  readonly guards?: StuckGuards;
  /** Readiness scores below this one are a caveat; default 0.7. */
  readonly minimumReadinessScore?: number;
  /** Defaults for tasks that set none of their own. */
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
