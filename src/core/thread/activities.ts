/**
 * The activities, each once: its input and outcome, how it is scheduled, and what it is wrapped by. The implementations
 * and their registration (activities/index.ts), the calls of workflows (workflows/activities.ts), and what a worker must
 * know of a running one follow from this table. The name of an activity is its type in every recorded history.
 * - Model calls and at-most-once tools are regular activities: they heartbeat, time out and are cancelled.
 * P2. There are no local activities, although they would save five events each. While one runs, a query, an overdue
 *     workflow task or another local activity can make a replay diverge, or lose a signal
 *     (docs/sdk-local-activities.md).
 * - TRY_CANCEL: a stopped step must not wait for a body that ignores its signal; the store settles it.
 * - Short commits have a queue, and so slots, of their own: models and tools that take all others delay no arrival, no
 *   stop and no end of a turn. Code that models write has one too, so that computations delay no other tool.
 * - Missing heartbeats reveal a lost worker, so the time of a long activity is only a fallback: the time limits of its
 *   models, its tool or its task end it.
 */
import type { CancelVerdict } from '../governance/cancellation.ts';
import type { OpenThreadInput, OpenThreadOutcome } from './open-thread.ts';
import type {
  AnswerWaitInput,
  CancelExecutionInput,
  CommitStatusInput,
  CommitStatusOutcome,
  EffectsDue,
  FinishCallInput,
  FinishedSubagent,
  RecordedOutcome,
  ReportOutcome,
  RunEffectsInput,
  RunEffectsOutcome,
  RunRef,
  StashInput,
  SubagentAttempt,
  SubpromptAttempt,
  ToolAttempt,
  ToolCallInput,
  ToolCallOutcome,
  UnstartedOutcome,
  WaitAnswerOutcome,
} from './step.ts';
import type { LoopInput, LoopOutcome } from './step-loop.ts';
import type {
  ActAttempt,
  EndTaskInput,
  OpenTaskInput,
  OpenTaskOutcome,
  ReadinessOutcome,
  TaskOutcome,
  TaskStepInput,
  ThoughtOutcome,
} from './task-step.ts';

/** What may stand around an implementation (activities/wrappers.ts). */
export type Wrapper =
  | 'stepLoop'
  | 'nextThought'
  | 'effectsDue'
  | 'anyEffectsDue'
  | 'leftEffectsDue'
  | 'insideCalls'
  | 'waitSignal'
  | 'unit'
  | { readonly faultPoint: 'tool_not_begun' | 'subprompt_not_begun' };

/** A task queue beside that of the workflows, which each worker serves with slots of its own. */
export type SideQueue = 'commits' | 'sandbox';

export function sideQueue(taskQueue: string, side: SideQueue): string {
  return `${taskQueue}-${side}`;
}

/** How an activity is scheduled. */
interface Scheduling {
  readonly options: {
    readonly startToCloseTimeout: '5 minutes' | '30 minutes' | '7 days';
    readonly retry: typeof UNTIL_STORED | typeof LOST_WORKER;
    /** If absent, a cancelled call waits for the activity to end. */
    readonly cancellationType?: 'TRY_CANCEL';
  };
  /** Absent for the queue of the workflows. */
  readonly queue?: SideQueue;
  /** Which of the worker's heartbeat timeouts applies. */
  readonly heartbeat: 'model' | 'tool';
  /** Attempts after which a fault is final: the thread reports it and rests. If absent, it is retried without limit. */
  readonly faultAttempts?: 8;
  /** It asks models, so a worker that shuts down grants it a grace period of its own, and then hands it over. */
  readonly asksModels?: true;
}

const UNTIL_STORED = {
  initialInterval: '200 ms',
  backoffCoefficient: 2,
  maximumInterval: '30 seconds',
} as const;
const LOST_WORKER = {
  initialInterval: '200 ms',
  backoffCoefficient: 1.5,
  maximumInterval: '5 seconds',
} as const;

/** A short commit, retried until it succeeds or is cancelled. */
const COMMIT: Scheduling = {
  options: { startToCloseTimeout: '5 minutes', retry: UNTIL_STORED },
  queue: 'commits',
  heartbeat: 'model',
};
/** A commit that may take long: hooks see its result, or files are copied. */
const LONG: Scheduling = {
  options: { startToCloseTimeout: '7 days', retry: LOST_WORKER, cancellationType: 'TRY_CANCEL' },
  heartbeat: 'model',
};
/** Author code that another worker continues from the store. Whether an act may be repeated, the store decides. */
const PHASE: Scheduling = { ...LONG, faultAttempts: 8 };
const MODEL: Scheduling = { ...PHASE, asksModels: true };
const TOOL: Scheduling = {
  options: { ...LONG.options, startToCloseTimeout: '30 minutes' },
  heartbeat: 'tool',
  faultAttempts: 8,
};

interface Entry<Input, Outcome> extends Scheduling {
  /** The outermost comes first. */
  readonly wrappers: readonly Wrapper[];
  /** Never set: it carries the types. */
  readonly call?: (input: Input) => Promise<Outcome & EffectsDue>;
}

function activity<Input, Outcome>(
  scheduling: Scheduling,
  ...wrappers: readonly Wrapper[]
): Entry<Input, Outcome> {
  return { ...scheduling, wrappers };
}

export const ACTIVITIES = {
  openThread: activity<OpenThreadInput, OpenThreadOutcome>(COMMIT, 'leftEffectsDue'),
  stashItems: activity<StashInput, { readonly waiting: number }>(COMMIT),
  cancelExecution: activity<CancelExecutionInput, CancelVerdict>(COMMIT),
  /** With `loop`, also runs the steps after it while nothing needs the workflow. */
  modelStep: activity<LoopInput, LoopOutcome>(
    MODEL,
    'stepLoop',
    'effectsDue',
    'insideCalls',
    'waitSignal',
    'unit',
  ),
  /** Its unit of work begins with the call. */
  runTool: activity<ToolCallInput, ToolAttempt>(TOOL, 'effectsDue', 'waitSignal', {
    faultPoint: 'tool_not_begun',
  }),
  /** `runTool` for code that a model wrote; it is pure, so after a lost worker it runs again. */
  runCode: activity<ToolCallInput, ToolAttempt>({ ...TOOL, queue: 'sandbox' }, 'effectsDue', 'waitSignal', {
    faultPoint: 'tool_not_begun',
  }),
  recordToolOutcome: activity<ToolCallInput, RecordedOutcome>(COMMIT, 'effectsDue', 'waitSignal'),
  answerWait: activity<AnswerWaitInput, WaitAnswerOutcome>(COMMIT),
  runSubprompt: activity<ToolCallInput, SubpromptAttempt>(
    MODEL,
    'effectsDue',
    'insideCalls',
    'waitSignal',
    'unit',
    { faultPoint: 'subprompt_not_begun' },
  ),
  finishSubprompt: activity<FinishCallInput, ToolCallOutcome>(LONG, 'effectsDue', 'unit'),
  /** Another attempt finds the child by the call. */
  callSubagent: activity<ToolCallInput, SubagentAttempt>(MODEL, 'effectsDue', 'waitSignal', 'unit'),
  finishSubagent: activity<FinishCallInput, FinishedSubagent>(LONG, 'effectsDue', 'unit'),
  reportToParent: activity<RunRef, ReportOutcome>(LONG),
  listUnstarted: activity<RunRef, UnstartedOutcome>(COMMIT),
  /** An effect that a lost worker had begun runs again, as often as the store allows. */
  runEffects: activity<RunEffectsInput, RunEffectsOutcome>(TOOL, 'anyEffectsDue'),
  commitStatus: activity<CommitStatusInput, CommitStatusOutcome>(COMMIT, 'effectsDue'),
  openTask: activity<OpenTaskInput, OpenTaskOutcome>(COMMIT),
  checkTask: activity<TaskStepInput, ReadinessOutcome>(PHASE, 'waitSignal', 'unit'),
  thinkTask: activity<TaskStepInput, ThoughtOutcome>(PHASE, 'waitSignal', 'unit'),
  actTask: activity<TaskStepInput, ActAttempt>(
    { ...PHASE, heartbeat: 'tool' },
    'nextThought',
    'waitSignal',
    'unit',
  ),
  endTask: activity<EndTaskInput, TaskOutcome>(COMMIT, 'unit'),
} as const;

export type ActivityName = keyof typeof ACTIVITIES;

/** The activities as they are registered and called. */
export type Activities = {
  readonly [Name in ActivityName]: NonNullable<(typeof ACTIVITIES)[Name]['call']>;
};

export type ActivityInput<Name extends ActivityName> = Parameters<Activities[Name]>[0];
export type ActivityOutcome<Name extends ActivityName> = Awaited<ReturnType<Activities[Name]>>;
