/**
 * The log of a thread: a closed list of the kinds of rows, each with its data (runtime §12). Events are markers of what the store
 * holds: content is in messages, files and values, except for the text that a model streams.
 * A kind never changes its name, since its rows are kept. A new field is optional, or `readEvent` gives it a value in older rows.
 * `docs/generated/events.md` is generated from the first comment of each kind (`npm run events`).
 */
import type { CallRepair } from '../answer/clean-calls.ts';
import type { HookName } from '../author/hook.ts';
import type { ContextManifest } from '../context/context-manifest.ts';
import type { ActionArtifact, ActionKind } from '../governance/agent-policy.ts';
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
import type { ForkedPart } from '../thread/forked.ts';
import type { RestStatus, StoredError, ThreadStatus } from '../thread/step.ts';
import type { ReportKind } from '../thread/subagent-report.ts';
import type { SupersededPart, SupersededRows } from '../thread/superseded.ts';
import type { ErrorCode } from '../value/error.ts';
import type { GrantCover, WaitScope } from '../wait/answer.ts';
import type { HoldCause, RetryCause, SettleCause, SnippetCause, WithQueueTime } from './cause.ts';
import type {
  BudgetLineOf,
  InSubprompt,
  NamedAction,
  NamedCall,
  NamedEffect,
  NamedFile,
  NamedWait,
  WithStack,
} from './event-shape.ts';

/** Data by kind. */
export interface EventData {
  /** The thread was created. A child has its parent and its name. */
  'thread.created': { readonly agent: string; readonly parentId?: string; readonly name?: string | null };
  /** The thread was made as a fork of another one: the first event of its log. The copied messages have no events. */
  'thread.forked': ForkedPart & { readonly agent: string; readonly messages: number };
  /** The thread's status changed. `reason` says why it rests, `error` why it failed. */
  'thread.status': {
    readonly status: ThreadStatus;
    readonly reason?: string | null;
    readonly error?: StoredError;
  };
  /** A handoff gave the thread another agent. */
  'thread.agent': { readonly from: string; readonly to: string };
  /** The thread was terminated and accepts nothing more: its last event. */
  'thread.terminated': { readonly reason: string | null };

  /** An execution began. `runId`: set if a context was given; `maxRounds`: of `guards.rounds`; `produced`: by another process; `typed`: its last answer has the type `output`. */
  'execution.started': {
    readonly executionId: string;
    readonly runId?: string;
    readonly maxRounds?: number;
    /** Code of another process answers; no model is called. */
    readonly produced?: true;
    /** The hash of the manifest that names its agent as `run`. */
    readonly manifest?: string;
    readonly typed?: true;
  };
  /** The execution ended. `status`: set unless idle. If cancelled: `reason` is `canceled`, with `cancelReason` and `by`. */
  'execution.ended': {
    readonly executionId: string;
    readonly reason: string;
    readonly status?: Exclude<RestStatus, 'idle'>;
    readonly error?: StoredError;
    readonly cancelReason?: string;
    readonly by?: string;
  };
  /** A step was stopped while it ran; `keptText`: the text streamed until then is stored as a message. */
  'execution.aborted': InSubprompt & { readonly status: RestStatus; readonly keptText: boolean };

  /** A line reported by code of another process that produces an execution. */
  'produced.line': { readonly type: string; readonly data?: unknown };
  /** The producing code is done. `error`: it failed; `ProducerLost`: its process was lost, even before the execution began. */
  'produced.ended': { readonly executionId: string; readonly error?: StoredError };

  /** A limit of a budget is nearly reached; once per limit. `executionId`: its owner; `threadId`: set if in another thread. */
  'budget.warning': BudgetLineOf & { readonly used: number };
  /** A limit, or an author's policy, denied what would have made the use of the budget `observed`: the execution ends. */
  'budget.exceeded': BudgetLineOf & { readonly observed: number };

  /** A message or a tool call was queued. */
  'item.queued': { readonly id: string; readonly kind: 'message' | 'tool' };
  /** An item was refused; nothing else of it is stored. */
  'item.rejected': { readonly id?: string; readonly code: ErrorCode; readonly reason: string };

  /** A message was stored. */
  'message.created': InSubprompt & { readonly messageId: string; readonly role: string };
  /** A hook or a tool changed a message. */
  'message.updated': { readonly messageId: string; readonly role: string };
  /** A message was removed. No `role`: it was still queued. */
  'message.deleted': { readonly messageId: string; readonly role?: string };
  /** What follows a message was superseded: the rows of the log from `from` to `to`, whose messages left the history. Lists what they have done, which stays. */
  'messages.superseded': SupersededRows & SupersededPart;
  /** Files named by a message were missing when it was drained. */
  'attachment.missing': { readonly messageId: string; readonly paths: readonly string[] };

  /** A step began, with the number of new items in its input. For a sub-prompt: its prompt, and the call that it answers. */
  'step.started': InSubprompt &
    WithQueueTime & {
      readonly items?: number;
      readonly side?: 'b';
      readonly prompt?: string;
      readonly parentStep?: number;
      readonly callId?: string;
    };
  /** Another attempt at the step; `cause`: its worker was lost, or has shut down (then `handedOver` is set), or the step waited for its budget. `reason` is the same as text. */
  'step.retried': WithQueueTime & {
    readonly reason: string;
    /** Absent in older rows. */
    readonly cause?: RetryCause;
    readonly handedOver?: true;
  };
  /** The answer was stored as the message `messageId`; its calls follow, without the `droppedCalls` that had no name. `typed`: its content is JSON that fits the `output` of the agent. */
  'step.committed': InSubprompt & {
    readonly messageId: string;
    readonly model: string;
    /** The provider's finish reason, or `hook_blocked`. */
    readonly finishReason: string;
    readonly usage?: ProviderUsage;
    readonly droppedCalls?: number;
    readonly typed?: true;
    /** Number of `model.chunk` rows of the step, for all its requests. */
    readonly chunks?: number;
  };
  /** The answer does not fit the `output` schema of the agent and is no message; `text`: the answer, cut if it is long. It is asked for again, unless `last` is set: then the execution fails. */
  'output.rejected': {
    readonly text: string;
    readonly problems: string;
    /** How many have been rejected since one was accepted, this one included. */
    readonly count: number;
    readonly last?: true;
    readonly model: string;
    readonly finishReason: string;
    readonly usage?: ProviderUsage;
  };
  /** The step failed permanently and has no answer. */
  'step.failed': StoredError;
  /** Messages that no longer fit were left out of a request. `room`: tokens for which messages were read; `assumed`: no model declares its window. `model`: set if only the request to this model had no room. */
  'context.trimmed': {
    readonly messages: number;
    readonly room?: number;
    readonly assumed?: true;
    readonly model?: string;
  };
  /** A provider counted far fewer tokens than were sent: it may leave out a part of long requests silently. Once for each model. */
  'context.undercounted': {
    readonly call: number;
    readonly model: string;
    readonly estimated: number;
    readonly counted: number;
  };
  /** A summary replaced `messages` more messages of a prompt, up to `messageId`: `covered` in all. `reason`: what was too much; `size` of it, and the `limit`: messages, characters, or tokens of the window. `fallback`: not a model's; `because`: why. */
  'context.compacted': {
    readonly prompt: string;
    readonly messages: number;
    readonly covered: number;
    readonly messageId: string;
    readonly summary: string;
    readonly reason: CompactionReason;
    readonly size?: number;
    readonly limit?: number;
    readonly fallback?: true;
    readonly because?: SnippetCause;
  };
  /** Estimated tokens of a request about to be sent, if a context, policy or budget is in use. Actual count: `model.answered`. */
  'context.prepared': ContextManifest & {
    readonly model: string;
    readonly modelId: string;
    /** Name of the factory of its provider; absent if that has none. */
    readonly provider?: string;
    readonly call: number;
  };

  /** A request was sent to a model. `purpose`: set if it is not for the answer, but for a summary. `insteadOf`: the model that it replaces, and the code of that one's last failure. `heldMs`: milliseconds that it stood in the model's line; absent below 100. */
  'model.called': {
    readonly model: string;
    readonly modelId: string;
    readonly call: number;
    readonly purpose?: 'compaction';
    readonly insteadOf?: { readonly model: string; readonly code?: string };
    readonly heldMs?: number;
  };
  /** A piece of the answer's text, else of its `reasoning`, or of a call's arguments: the `input`. Removed ten minutes after its execution ends. A reader resuming there then gets the whole answer. */
  'model.chunk': InSubprompt & {
    readonly delta: string;
    readonly call: number;
    readonly reasoning?: string;
    readonly input?: { readonly callId: string; readonly name: string; readonly delta: string };
  };
  /** The model answered. `cost` in US dollars, if the model has prices; `ignored`: kinds of stream chunks that were ignored. */
  'model.answered': {
    readonly call: number;
    readonly ignored?: readonly string[];
    readonly usage: ProviderUsage | null;
    readonly cost: number | null;
  };
  /** The request failed. `retryInMs`: milliseconds until it is repeated; `plain`: it is repeated at once, without streaming; `withoutMetadata`: without what its provider wanted back; `withoutTool`: without the tool that was refused, for the rest of the execution; `withoutFormat`: tools and the format of the answer were refused together, and are asked apart for the rest of the execution; `tooLong`: the window could not hold it; `smaller`: it is repeated smaller; `fallback`: the next model is asked instead. */
  'model.failed': Partial<StoredError> & {
    readonly call: number;
    readonly statusCode?: number;
    readonly retryInMs?: number;
    readonly plain?: boolean;
    readonly withoutMetadata?: boolean;
    readonly withoutTool?: string;
    readonly withoutFormat?: true;
    readonly tooLong?: true;
    readonly smaller?: true;
    readonly fallback?: true;
  };
  /** No answer has begun within the model's `feedbackSeconds`, `afterMs` milliseconds. At most once for a step's answer, never after it has begun. */
  'model.waiting': InSubprompt & { readonly call: number; readonly afterMs?: number };
  /** A model takes no request for now, after `refusals` of the step's requests: it is asked again in `retryInMs` milliseconds. `by`: its provider's refusals, of any request, or the `concurrency` of its definition. */
  'model.held': InSubprompt & {
    readonly model: string;
    readonly retryInMs: number;
    readonly refusals: number;
    /** Absent in older rows. */
    readonly by?: HoldCause;
  };
  /** Readers must discard the step's text of this `attempt` and `call`. `reason`: why; with `Removed`, the whole text follows. */
  'attempt.discarded': InSubprompt & {
    readonly attempt: number;
    readonly call: number;
    /** Code of the request's failure, `WorkerLost`, `WorkerShutdown`, or `Removed`. */
    readonly reason: string;
  };

  /** A model or a queued item calls a tool. `repaired`: how the call was repaired; the message's metadata has the original. */
  'tool.called': NamedCall &
    InSubprompt & { readonly queued?: boolean; readonly repaired?: readonly CallRepair[] };
  /** The tool's body began. */
  'tool.started': NamedCall & WithQueueTime;
  /** The tool has a result, the message before this event. `refused`: it did not run: it is unknown, or not callable now. `settled`: the result is not the tool's own: its execution ended before, or a person reported it. `endedAt`: when it ended, in microseconds since 1970, if a call before it was under way then (docs/tools.md, side by side). */
  'tool.result': NamedCall &
    InSubprompt &
    WithStack & {
      readonly status: ToolStatus;
      readonly refused?: true;
      readonly settled?: SettleCause;
      readonly endedAt?: number;
    };
  /** The worker that ran the tool was lost; whether the tool has taken effect is unknown. */
  'tool.unknown': NamedCall & InSubprompt & WithStack & { readonly status: ToolStatus };
  /** A result arrived after the call already had one. It changes nothing. */
  'tool.late_result': NamedCall & {
    readonly status: ToolStatus;
    readonly result: string;
    readonly attempt: string;
  };
  /** A hook removed the call from the thread. */
  'tool.removed': NamedCall;
  /** Code invoked a tool itself (`state.invokeTool`). */
  'tool.invoked': { readonly name: string; readonly status: ToolStatus; readonly durationMs: number };

  /** An MCP server has listed its tools, for the rest of the execution. `changed`: those that differ from its previous list; `left`: those of the prompt's that cannot be offered, and why. */
  'mcp.listed': {
    readonly server: string;
    readonly tools: readonly string[];
    readonly changed: readonly string[];
    readonly left?: readonly { readonly tool: string; readonly why: string }[];
  };
  /** An MCP server could not list its tools; they are not offered until it can. */
  'mcp.failed': { readonly server: string; readonly code: string; readonly error: string };
  /** A call has started a task of an agent elsewhere, which has these ids there. */
  'a2a.task': { readonly agent: string; readonly taskId: string; readonly contextId: string };

  /** The model's last `count` calls form a loop; its next request has a reminder, and at `limit` calls the execution ends. Only if `guards.loops` is in use. */
  'loop.warning': NamedCall & {
    readonly detector: LoopDetector;
    readonly count: number;
    readonly limit?: number;
  };
  /** The loop has reached its critical limit: the execution ends with `LoopDetected`. */
  'loop.critical': NamedCall & { readonly detector: LoopDetector; readonly count: number };

  /** An action is to be judged: its arguments are validated, nothing is done yet. Only judged actions have `action.*` events. */
  'action.requested': NamedAction & {
    readonly kind: ActionKind;
    readonly callId?: string;
    /** Those that run, without secrets; absent if they are larger than 64 KiB. */
    readonly arguments?: unknown;
    readonly capabilities: readonly string[];
    readonly fingerprint: string;
    readonly description?: string;
    readonly artifacts: readonly ActionArtifact[];
  };
  /** The decision of the policy about an action: its effect, the reason, and the rules behind it. */
  'action.policy': NamedAction &
    PolicyDecision & { /** The grant that covers the action. */ readonly grantId?: string };
  /** An action is not done: `code` is `ActionDenied`, or `ApprovalRequired` if nobody could be asked. */
  'action.denied': NamedAction & { readonly code: ErrorCode; readonly reason: string };
  /** An action was permitted and begins. */
  'action.started': NamedAction;
  /** An action was done. */
  'action.completed': NamedAction;
  /** An action began and ended with an error. */
  'action.failed': NamedAction & { readonly error: string };
  /** The worker that did an action was lost: whether the action has taken effect is unknown. */
  'action.uncertain': NamedAction;
  /** A person has reported the outcome of an uncertain action: `completed` if it has taken effect. */
  'action.reconciled': NamedAction & {
    readonly completed: boolean;
    readonly note?: string;
    readonly by?: string;
  };

  /** A hook threw or returned an invalid value; the value that it was called for is unchanged. */
  'hook.failed': WithStack & {
    readonly id: string | null;
    readonly hook: HookName | null;
    readonly error: string;
  };
  /** Author code failed where nothing awaits it: an unhandled rejection, or a throw from a timer. */
  'code.stray': WithStack & {
    readonly code: string;
    readonly name: string;
    readonly kind: string;
    readonly error: string;
  };

  /** Something that author code returned, or left in `state.context`, was kept in another form or not at all. */
  'code.note': { readonly code: string; readonly name: string | null; readonly note: string };

  /** An effect waits until `dueAt`, in microseconds since 1970. */
  'effect.scheduled': NamedEffect & { readonly dueAt: number };
  /** An attempt at an effect began. */
  'effect.started': NamedEffect & { readonly attempt: number };
  /** An effect has run. */
  'effect.done': NamedEffect;
  /** An effect failed and is not retried. */
  'effect.failed': NamedEffect & WithStack & { readonly error: StoredError };
  /** An effect was cancelled before it began. */
  'effect.cancelled': NamedEffect;

  /** A child was created. `callId`: the call that created it. */
  'subagent.created': {
    readonly childId: string;
    readonly agent: string;
    readonly name: string | null;
    readonly callId?: string;
  };
  /** A call sent a message to a child. */
  'subagent.messaged': {
    readonly childId: string;
    readonly agent: string;
    readonly name?: string;
    readonly messageId: string;
  };
  /** A child sent a message to this thread. */
  'subagent.notified': { readonly childId: string; readonly name?: string; readonly messageId: string };
  /** A child set its status text. */
  'subagent.status': { readonly childId: string; readonly name?: string; readonly status: string };
  /** A child reported its result; `by`: whether it went to the waiting call, became a message, or was dropped. */
  'subagent.returned': ReportOfChild;
  /** A child reported that it failed, or was stopped, cancelled or terminated; `by` as in `subagent.returned`. */
  'subagent.failed': ReportOfChild;
  /** A child lacks variables; it is created once they are provided. */
  'variables.requested': {
    readonly requestId: string;
    readonly agent: string;
    readonly required: readonly string[];
    readonly missing: readonly string[];
  };

  /** A wait was opened: a person is asked for something. Times are microseconds since 1970. */
  'wait.opened': NamedWait & { readonly summary: string; readonly expiresAt: number | null };
  /** A wait was answered. The value is not logged: it may be a secret. */
  'wait.answered': NamedWait & {
    readonly approved?: boolean;
    readonly scope?: WaitScope;
    readonly covers?: GrantCover;
    /** Microseconds since 1970. */
    readonly until?: number;
    readonly reason?: string;
    readonly by?: string;
    /** Set if the person has changed the arguments: the next `action.requested` of the call has them. */
    readonly changed?: true;
  };
  /** A grant was revoked that an approval in this thread had given; `name`: what could be called by it. */
  'grant.revoked': { readonly grantId: string; readonly name: string; readonly by?: string };
  /** A wait is over, unanswered: `expired`, or why it closed. A descendant's also: `answered`, or `released` (blocks no more). */
  'wait.closed': NamedWait & { readonly reason: string; readonly approved?: boolean; readonly by?: string };

  /** A task was created (docs/tasks.md). `name`: its name in agents/tasks. */
  'task.created': { readonly taskId: string; readonly name: string; readonly intent: string };
  /** The task runs with another manifest than before: a newer build. Hashes of the content; null if there is none. */
  'task.manifest': { readonly from: string | null; readonly to: string | null };
  /** The task checks whether the knowledge that it requires is there. */
  'task.checking': Readonly<Record<never, never>>;
  /** The task asks for missing knowledge. */
  'task.asked': { readonly questions: readonly KnowledgeQuestion[] };
  /** Questions of the task were answered, all or some. Ids of requirements only: answers are not logged. */
  'task.answered': { readonly requirementIds: readonly string[] };
  /** The task searches for missing knowledge. */
  'task.acquiring': { readonly plans: readonly AcquisitionPlan[] };
  /** The task's search found this evidence. */
  'task.acquired': { readonly evidenceIds: readonly string[] };
  /** The task has decided whether its required knowledge is there. */
  'task.readiness': {
    readonly decision: ReadinessDecision;
    readonly knowledge: Omit<KnowledgeReport, 'requirements'>;
  };
  /** A step of the task observed its domain and evaluated the state. `failing`: ids of evals. */
  'task.observed': {
    readonly score: number | null;
    readonly evals: number;
    readonly failing: readonly ControlEval['id'][];
  };
  /** The task decided what to do. */
  'task.decided': { readonly kind: TaskDecision['kind'] };
  /** The task began to act. */
  'task.acting': { readonly idempotencyKey: string };
  /** An act or a question of the task is over. `spentCostUsd`: spent by the task so far. */
  'task.acted': {
    readonly ok: boolean;
    readonly code?: string;
    readonly error?: string;
    readonly costUsd?: number;
    readonly spentCostUsd: number;
  };
  /** The task's adapter emitted an event. */
  'task.emitted': { readonly event: TaskEmission };
  /** A phase of the task's adapter failed. */
  'task.failed': { readonly phase: string; readonly message: string };
  /** The task is over; only the end of its log follows. */
  'task.ended': Pick<TaskVerdict, 'stoppedBy' | 'pass' | 'reason' | 'score' | 'limit' | 'code'> & {
    readonly status: TaskEnd;
    readonly steps: number;
    readonly spentCostUsd: number;
    /** Working time in milliseconds. */
    readonly wallMs: number;
  };

  /** A value of the thread changed; the event has only its key. */
  'value.changed': { readonly key: string };
  /** A file was created. */
  'file.created': NamedFile;
  /** A file was replaced. */
  'file.updated': NamedFile;
  /** A file was removed. */
  'file.deleted': NamedFile;

  /** Author code called `state.emit`, with an event name of its own. `omitted`: bytes of data that was too large to be stored. */
  custom: { readonly event: string; readonly data: unknown; readonly omitted?: number };
}

export interface ReportOfChild {
  readonly childId: string;
  readonly agent: string;
  /** Absent if it has none. */
  readonly name?: string;
  readonly kind: ReportKind;
  readonly by: 'message' | 'call' | 'dropped';
  /** Why it was stopped, cancelled or terminated, if a reason was given. */
  readonly reason?: string;
}
