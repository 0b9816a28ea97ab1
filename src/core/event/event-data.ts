/**
 * The log of a thread: a closed list of the kinds of rows, each with its data (runtime §12). Events are markers of what the store
 * holds: content is in messages, files and values, except for the text that a model streams.
 * A kind keeps its name for ever, since its rows are kept. A new field is optional, or `readEvent` gives it a value in older rows.
 * `docs/events.md` is generated from the first comment of each kind (`npm run events`).
 */

import type { CallRepair } from '../answer/clean-calls.ts';
import type { HookName } from '../author/hook.ts';
import type { ContextManifest } from '../context/context-manifest.ts';
import type { ActionArtifact, ActionKind } from '../governance/agent-policy.ts';
import type { BudgetLimit } from '../governance/budget.ts';
import type { PolicyDecision } from '../governance/capability-policy.ts';
import type { CompactionReason } from '../guard/compaction.ts';
import type { LoopDetector } from '../guard/loop.ts';
import type { ToolStatus } from '../message/message.ts';
import type { ProviderUsage } from '../message/provider.ts';
import type { ControlEval, TaskDecision, TaskEnd, TaskVerdict } from '../task/control.ts';
import type { TaskEmission } from '../task/emission.ts';
import type {
  AcquisitionPlan,
  KnowledgeQuestion,
  KnowledgeReport,
  ReadinessDecision,
} from '../task/knowledge.ts';
import type { RestStatus, StoredError, ThreadStatus } from '../thread/step.ts';
import type { ReportKind } from '../thread/subagent-report.ts';
import type { ErrorCode } from '../value/error.ts';
import type { WaitScope } from '../wait/answer.ts';
import type { WaitKind } from '../wait/wait.ts';

/** Set for a step of a sub-prompt; absent for the thread's own. */
export interface InSubprompt {
  readonly depth?: number;
}

export interface NamedCall {
  readonly name: string;
  readonly callId: string;
}

export interface NamedAction {
  /** The call's idempotency key: the same for each attempt of the same call. */
  readonly actionId: string;
  readonly name: string;
}

export interface NamedEffect {
  readonly id: string;
  readonly name: string;
}

/**
 * `name`: of the tool that asks, or of what is asked for. `callId`: of its call. `threadId`: of the descendant that waits, where its wait
 * blocks this thread too.
 */
export interface NamedWait {
  readonly waitId: string;
  readonly kind: WaitKind;
  readonly name: string;
  readonly callId?: string;
  readonly threadId?: string;
}

export interface NamedFile {
  readonly path: string;
  readonly mimeType: string;
  /** Bytes. */
  readonly size: number;
}

/** Where author code threw: frames of the project's own files, without secrets. Shown by `threads show --debug`. */
export interface WithStack {
  readonly stack?: string;
}

/** One limit of the budget of an execution. */
export interface BudgetLineOf {
  readonly executionId: string;
  readonly threadId?: string;
  readonly limit: BudgetLimit;
  readonly max: number;
  /** A policy of the author has said so, and why. */
  readonly policy?: string;
  readonly reason?: string;
}

/** Kind → data. */
export interface EventData {
  /** The thread was made. A child has its parent and its name. */
  'thread.created': { readonly agent: string; readonly parentId?: string; readonly name?: string | null };
  /** Its status changed. `reason` says why it rests, `error` why it failed. */
  'thread.status': {
    readonly status: ThreadStatus;
    readonly reason?: string | null;
    readonly error?: StoredError;
  };
  /** A handoff gave the thread another agent. */
  'thread.agent': { readonly from: string; readonly to: string };
  /** It accepts nothing more: the last event of its life. */
  'thread.terminated': { readonly reason: string | null };

  /** An execution began: the thread was at rest and has work. With `runId`: it runs with a context that somebody has given; `maxRounds`: of `guards.rounds`; `produced`: code of another process answers, and no model is asked. */
  'execution.started': {
    readonly executionId: string;
    readonly runId?: string;
    readonly maxRounds?: number;
    readonly produced?: true;
    /** The hash of the manifest that names its agent as `run`. */
    readonly manifest?: string;
  };
  /** It ended, and why; with `status`: not simply at rest. Cancelled: `reason` is `canceled`, `cancelReason` and `by` are those of who asked. */
  'execution.ended': {
    readonly executionId: string;
    readonly reason: string;
    readonly status?: Exclude<RestStatus, 'idle'>;
    readonly error?: StoredError;
    readonly cancelReason?: string;
    readonly by?: string;
  };
  /** A step was stopped while it ran; `keptText`: the text until then is kept as a message. */
  'execution.aborted': InSubprompt & { readonly status: RestStatus; readonly keptText: boolean };

  /** A line of an execution that code of another process produces, as that has told it. */
  'produced.line': { readonly type: string; readonly data?: unknown };
  /** Nothing more is produced. `error`: in vain; `ProducerLost` where its process was lost, also before the execution began. */
  'produced.ended': { readonly executionId: string; readonly error?: StoredError };

  /** A limit of a budget is nearly reached; once for each limit. `executionId`: whose budget it is, `threadId`: where that is another thread's. */
  'budget.warning': BudgetLineOf & { readonly used: number };
  /** A limit of a budget denied what was to come, which would have made `observed` of it, or an author's policy did: the execution ends. */
  'budget.exceeded': BudgetLineOf & { readonly observed: number };

  /** A message or a tool call was queued. */
  'item.queued': { readonly id: string; readonly kind: 'message' | 'tool' };
  /** An item was refused; nothing else of it is kept. */
  'item.rejected': { readonly id?: string; readonly code: ErrorCode; readonly reason: string };

  /** A message was stored. */
  'message.created': InSubprompt & { readonly messageId: string; readonly role: string };
  /** A hook or a tool changed a message. */
  'message.updated': { readonly messageId: string; readonly role: string };
  /** A message was removed. Without a role: it was still queued. */
  'message.deleted': { readonly messageId: string; readonly role?: string };
  /** Files named by a message were missing when it was drained. */
  'attachment.missing': { readonly messageId: string; readonly paths: readonly string[] };

  /** A step began, with the number of new items in its input. Of a sub-prompt: its prompt, and the call that it answers. */
  'step.started': InSubprompt & {
    readonly items?: number;
    readonly side?: 'b';
    readonly prompt?: string;
    readonly parentStep?: number;
    readonly callId?: string;
  };
  /** Another attempt at the step: the worker of the previous one was lost, has shut down (`handedOver`), or it waited for its budget. */
  'step.retried': { readonly reason: string; readonly handedOver?: true };
  /** The answer is stored as the message `messageId`; its calls follow, but for the `droppedCalls` that named nothing. */
  'step.committed': InSubprompt & {
    readonly messageId: string;
    readonly model: string;
    /** The provider's word, or `hook_blocked`. */
    readonly finishReason: string;
    readonly usage?: ProviderUsage;
    readonly droppedCalls?: number;
    /** Rows of `model.chunk` that the step has left, of all its requests. */
    readonly chunks?: number;
  };
  /** The step failed for good and has no answer. */
  'step.failed': StoredError;
  /** Messages that no longer fit were left out of a request. */
  'context.trimmed': { readonly messages: number };
  /** `messages` more messages, up to `messageId`, gave place to a summary in the requests of a prompt: it stands for `covered`. `fallback`: no model has written it. */
  'context.compacted': {
    readonly prompt: string;
    readonly messages: number;
    readonly covered: number;
    readonly messageId: string;
    readonly summary: string;
    readonly reason: CompactionReason;
    readonly fallback?: true;
  };
  /** A request is about to be sent, of so many tokens by estimate; where a context, a policy or a budget is in use. The provider's count: `model.answered`. */
  'context.prepared': ContextManifest & {
    readonly model: string;
    readonly modelId: string;
    readonly call: number;
  };

  /** A request was sent to a model. With `purpose`: not for the answer, but for a summary. */
  'model.called': {
    readonly model: string;
    readonly modelId: string;
    readonly call: number;
    readonly purpose?: 'compaction';
  };
  /** A piece of the answer. The only kind that is ever removed: ten minutes after the end of their execution. Whoever reads on from among them then is told the answer as a whole. */
  'model.chunk': InSubprompt & { readonly delta: string; readonly call: number };
  /** The model answered. `cost` in US dollars, where the model has prices; `ignored`: kinds of chunks that nothing was kept of. */
  'model.answered': {
    readonly call: number;
    readonly ignored?: readonly string[];
    readonly usage: ProviderUsage | null;
    readonly cost: number | null;
  };
  /** The request failed. With `retryInMs`: it is repeated after so many milliseconds. `plain`: at once, as one for a whole answer. */
  'model.failed': Partial<StoredError> & {
    readonly call: number;
    readonly statusCode?: number;
    readonly retryInMs?: number;
    readonly plain?: boolean;
  };
  /** No answer has begun within the model's `feedbackSeconds`. Told once while a step asks, and not behind the beginning of an answer. */
  'model.waiting': InSubprompt & { readonly call: number };
  /** A request that had streamed text was given up: its pieces, those of the step with this `attempt` and `call`, are to be forgotten. `reason`: the code of its failure, `WorkerLost`, `WorkerShutdown`, or `Removed`: the whole text follows. */
  'attempt.discarded': InSubprompt & {
    readonly attempt: number;
    readonly call: number;
    readonly reason: string;
  };

  /** A model or a queued item calls a tool. `repaired`: what was done to the call before it was stored; its own words are in the message's metadata. */
  'tool.called': NamedCall &
    InSubprompt & { readonly queued?: boolean; readonly repaired?: readonly CallRepair[] };
  /** The tool's body began. */
  'tool.started': NamedCall;
  /** The tool has a result, which is the message before this event. `refused`: it was not to run, as its tool is unknown, or not to be called now. */
  'tool.result': NamedCall &
    InSubprompt &
    WithStack & { readonly status: ToolStatus; readonly refused?: true };
  /** The worker that ran the tool was lost, and whether the tool has acted is unknown. */
  'tool.unknown': NamedCall & InSubprompt & WithStack & { readonly status: ToolStatus };
  /** A result arrived after the call had one. It changes nothing. */
  'tool.late_result': NamedCall & {
    readonly status: ToolStatus;
    readonly result: string;
    readonly attempt: string;
  };
  /** A hook removed the call from the thread. */
  'tool.removed': NamedCall;
  /** Code called a tool itself (`state.invokeTool`). */
  'tool.invoked': { readonly name: string; readonly status: ToolStatus; readonly durationMs: number };

  /** A server of MCP has told its tools, for the rest of the execution. `changed`: those that are not as it told them before. */
  'mcp.listed': {
    readonly server: string;
    readonly tools: readonly string[];
    readonly changed: readonly string[];
  };
  /** A server of MCP could not be asked for its tools, which are not offered until it can. */
  'mcp.failed': { readonly server: string; readonly code: string; readonly error: string };
  /** A call has begun a task of an agent elsewhere, which has these ids there. */
  'a2a.task': { readonly agent: string; readonly taskId: string; readonly contextId: string };

  /** The calls of a model go round in circles: `count` of them, with this one. Its next request reminds it. Where `guards.loops` is in use. */
  'loop.warning': NamedCall & { readonly detector: LoopDetector; readonly count: number };
  /** They have done so until now: the execution ends with `LoopDetected`. */
  'loop.critical': NamedCall & { readonly detector: LoopDetector; readonly count: number };

  /** A call is to be judged: its arguments are checked, and nothing of it is done. Told where the agent has a policy, as are its kin. */
  'action.requested': NamedAction & {
    readonly kind: ActionKind;
    readonly callId?: string;
    readonly capabilities: readonly string[];
    readonly fingerprint: string;
    readonly description?: string;
    readonly artifacts: readonly ActionArtifact[];
  };
  /** What the policy says of an action: its effect, why, and which rules say so. */
  'action.policy': NamedAction & PolicyDecision;
  /** An action is not done: `code` is `ActionDenied`, or `ApprovalRequired` where nobody could be asked. */
  'action.denied': NamedAction & { readonly code: ErrorCode; readonly reason: string };
  /** An action begins: it may be done. */
  'action.started': NamedAction;
  /** An action was done. */
  'action.completed': NamedAction;
  /** An action began and ended with an error. */
  'action.failed': NamedAction & { readonly error: string };
  /** The worker that did an action was lost: whether it has taken effect is unknown. */
  'action.uncertain': NamedAction;
  /** A person says what became of an uncertain action: `completed` where it has taken effect. */
  'action.reconciled': NamedAction & {
    readonly completed: boolean;
    readonly note?: string;
    readonly by?: string;
  };

  /** A hook threw or returned an invalid value; its subject stays as it was. */
  'hook.failed': WithStack & {
    readonly id: string | null;
    readonly hook: HookName | null;
    readonly error: string;
  };
  /** Author code failed where nothing awaits it: a rejection, or a throw from a timer. */
  'code.stray': WithStack & {
    readonly code: string;
    readonly name: string;
    readonly kind: string;
    readonly error: string;
  };

  /** An effect waits until `dueAt`, in microseconds since 1970. */
  'effect.scheduled': NamedEffect & { readonly dueAt: number };
  /** An attempt at an effect began. */
  'effect.started': NamedEffect & { readonly attempt: number };
  /** An effect has run. */
  'effect.done': NamedEffect;
  /** An effect failed and is not tried again. */
  'effect.failed': NamedEffect & WithStack & { readonly error: StoredError };
  /** An effect was cancelled before it began. */
  'effect.cancelled': NamedEffect;

  /** The thread has a child. With `callId`: the call that made it. */
  'subagent.created': {
    readonly childId: string;
    readonly agent: string;
    readonly name: string | null;
    readonly callId?: string;
  };
  /** A call sent a message to a child. */
  'subagent.messaged': { readonly childId: string; readonly agent: string; readonly messageId: string };
  /** A child sent a message to this thread. */
  'subagent.notified': { readonly childId: string; readonly messageId: string };
  /** A child set its status text. */
  'subagent.status': { readonly childId: string; readonly status: string };
  /** A child reported its result; `by`: to the call that waited, or as a message. */
  'subagent.returned': ReportOfChild;
  /** A child reported that it failed, was stopped or was terminated. */
  'subagent.failed': ReportOfChild;
  /** A child lacks variables: it is made once they are given. */
  'variables.requested': {
    readonly requestId: string;
    readonly agent: string;
    readonly required: readonly string[];
    readonly missing: readonly string[];
  };

  /** Something is asked of a person, and waits for the answer. Times are microseconds since 1970. */
  'wait.opened': NamedWait & { readonly summary: string; readonly expiresAt: number | null };
  /** It was answered. A value is not told here: it may be a secret. */
  'wait.answered': NamedWait & {
    readonly approved?: boolean;
    readonly scope?: WaitScope;
    readonly reason?: string;
    readonly by?: string;
  };
  /** It is over without an answer: `expired`, or why nobody wants one. Of a descendant's, also: `answered`, and `released`, which blocks no more. */
  'wait.closed': NamedWait & { readonly reason: string; readonly approved?: boolean; readonly by?: string };

  /** A task was made (docs/tasks.md). `name`: of agents/tasks. */
  'task.created': { readonly taskId: string; readonly name: string; readonly intent: string };
  /** It runs with another manifest than before: a newer build. Hashes of their content; null where there is none. */
  'task.manifest': { readonly from: string | null; readonly to: string | null };
  /** What it must know is looked at. */
  'task.checking': Readonly<Record<never, never>>;
  /** What is missing is asked for. */
  'task.asked': { readonly questions: readonly KnowledgeQuestion[] };
  /** It was answered, so far as it was. Ids of requirements: an answer is not told here. */
  'task.answered': { readonly requirementIds: readonly string[] };
  /** What is missing is looked for. */
  'task.acquiring': { readonly plans: readonly AcquisitionPlan[] };
  /** So much was found. */
  'task.acquired': { readonly evidenceIds: readonly string[] };
  /** Whether what must be known is known. */
  'task.readiness': {
    readonly decision: ReadinessDecision;
    readonly knowledge: Omit<KnowledgeReport, 'requirements'>;
  };
  /** A step of it observed its domain, and measured what it saw. `failing`: ids of evals. */
  'task.observed': {
    readonly score: number | null;
    readonly evals: number;
    readonly failing: readonly ControlEval['id'][];
  };
  /** It decided what to do. */
  'task.decided': { readonly kind: TaskDecision['kind'] };
  /** It began to act. */
  'task.acting': { readonly idempotencyKey: string };
  /** What it did, or asked, is over. `spentCostUsd`: of the task until then. */
  'task.acted': {
    readonly ok: boolean;
    readonly code?: string;
    readonly error?: string;
    readonly costUsd?: number;
    readonly spentCostUsd: number;
  };
  /** Its adapter told of its work. */
  'task.emitted': { readonly event: TaskEmission };
  /** A phase of its adapter failed. */
  'task.failed': { readonly phase: string; readonly message: string };
  /** It is over: its last event but the end of its log. */
  'task.ended': Pick<TaskVerdict, 'stoppedBy' | 'pass' | 'reason' | 'score' | 'limit' | 'code'> & {
    readonly status: TaskEnd;
    readonly steps: number;
    readonly spentCostUsd: number;
    /** Milliseconds at work. */
    readonly wallMs: number;
  };

  /** A value of the thread changed; the event has only its key. */
  'value.changed': { readonly key: string };
  /** A file was made. */
  'file.created': NamedFile;
  /** A file was replaced. */
  'file.updated': NamedFile;
  /** A file was removed. */
  'file.deleted': NamedFile;

  /** Author code called `state.emit`, with a name of its own. `omitted`: the bytes of data that were too large to be kept. */
  custom: { readonly event: string; readonly data: unknown; readonly omitted?: number };
}

export interface ReportOfChild {
  readonly childId: string;
  readonly agent: string;
  readonly kind: ReportKind;
  readonly by: 'message' | 'call' | 'dropped';
}
