/** The package's entry: what `import … from 'everthread'` provides. */

export type { AnswerOptions } from './client/answer-wait.ts';
export type { CalledTool, CallOptions, ToolToCall } from './client/call-tool.ts';
export type { ConnectOptions } from './client/connect.ts';
export type { RemainingHistory } from './client/delete-histories.ts';
export type { DeletedThreads } from './client/delete-thread.ts';
export { type AttachOptions, type EventSink, InMemoryEventSink, type SinkEnd } from './client/event-sink.ts';
export type { AwaitChanges, FollowChanges } from './client/follow-changes.ts';
export type { FollowOptions } from './client/follow-events.ts';
export type { ServerInfo, WhoAmI } from './client/http/answers.ts';
export { HttpClient } from './client/http/http-client.ts';
export type { HttpConnectOptions } from './client/http/http-place.ts';
export { type LocalTraceOptions, LocalTraceTelemetry } from './client/local-trace.ts';
export type { OutgoingMessage, StartMessage } from './client/outgoing.ts';
export type { NewAttachment, OutgoingAttachment } from './client/outgoing-file.ts';
export type { OutputType } from './client/outgoing-output.ts';
export type { ProvidedVariables } from './client/provide-variables.ts';
export type { RunRecord } from './client/run-record.ts';
export { RunRecorder } from './client/run-recorder.ts';
export type { GetRunReport } from './client/run-report.ts';
export { type RunStore, RunStoreSink } from './client/run-store.ts';
export { RuntimeClient } from './client/runtime-client.ts';
export type { StartCall, StartCalls } from './client/start-calls.ts';
export type { ForkThread, StartThread } from './client/start-options.ts';
export type { StoredGrants } from './client/stored-grants.ts';
export type { RequestManifest } from './client/stored-manifests.ts';
export type { AttachSink, StoredRuns } from './client/stored-runs.ts';
export type { FileToWrite, StoredFiles, StoredValues } from './client/stored-threads.ts';
export type { Supersede } from './client/supersede.ts';
export type { FollowTask, StartTask, Tasks, WaitForTask } from './client/tasks.ts';
export type { ThreadsClient, ThreadsRuns } from './client/threads-client.ts';
export type { IdleOptions } from './client/wait-for-idle.ts';
export type { CallRepair } from './core/answer/clean-calls.ts';
export type { ArgumentRepair } from './core/answer/repair-arguments.ts';
export type { A2aAgentDefinition } from './core/author/a2a-agent.ts';
export type { AuthorSchema, ParsedBySchema } from './core/author/author-schema.ts';
export type {
  CodeExecution,
  CodeExecutionError,
  CodeExecutionLog,
  CodeExecutionOptions,
  CodeExecutionResult,
  CodeExecutionStatus,
  RunCode,
} from './core/author/code-execution.ts';
export type {
  AgentDefinition,
  ModelCapabilities,
  ModelDefinition,
  PromptDefinition,
  PromptPart,
  PromptToolEntry,
  ReasoningConfig,
  SessionToolBinding,
  SideDefinition,
} from './core/author/definition.ts';
export type { EffectDefinition } from './core/author/effect.ts';
export type { EndpointDefinition, EndpointHandler, EndpointParams } from './core/author/endpoint.ts';
export type {
  AgentEnd,
  CallChange,
  Compaction,
  HookAnswer,
  HookDefinition,
  HookName,
  HookSignatures,
  Kept,
  MessageChange,
} from './core/author/hook.ts';
export type {
  ManifestDefinition,
  ManifestDocument,
  ManifestIssue,
  ManifestSurfaces,
  Rubric,
  RubricDimension,
  ScoredRun,
} from './core/author/manifest.ts';
export type { McpReach, McpServerDefinition, McpToolRef } from './core/author/mcp-server.ts';
export type {
  OwnAction,
  OwnActionContext,
  OwnActionResult,
  ThreadActions,
} from './core/author/own-action.ts';
export type {
  JudgedCall,
  JudgedSpending,
  PolicyContext,
  PolicyDefinition,
  PolicyVerdict,
  SpendingAnswer,
} from './core/author/policy.ts';
export type { Answered, Question, ThreadQuestions } from './core/author/question.ts';
export type { CountedBy, ThreadSort } from './core/author/read-options.ts';
export type { Registry, ToolDefinition } from './core/author/registry.ts';
export type {
  ActContext,
  ActionOutcome,
  AgentAdapter,
  Awaitable,
  AwaitedThread,
  CostContext,
  DecideContext,
  KnowledgeProvider,
  ObservedContext,
  TaskContext,
  TaskControl,
  TaskDefinition,
  TaskPhase,
  TaskRunRecord,
  TaskRuntimeError,
  TaskSettings,
  TaskStep,
  TaskThread,
} from './core/author/task.ts';
export type { ScheduledEffect, ThreadEffects } from './core/author/thread-effect.ts';
export type { EnvState, EnvType } from './core/author/thread-env.ts';
export type { ExecutionState, Side } from './core/author/thread-execution.ts';
export type { SubagentRegistryEntry, SubagentStatus, ThreadFamily } from './core/author/thread-family.ts';
export type { GetLogsOptions, Log } from './core/author/thread-log.ts';
export type {
  GetMessagesOptions,
  MessageAttachment,
  MessagePage,
  MessageUpdates,
  NewMessage,
  QueuedMessage,
  ThreadMessages,
} from './core/author/thread-message.ts';
export type {
  AnyThreadState,
  Scratch,
  ThreadLoaders,
  ThreadState,
  UnknownFields,
} from './core/author/thread-state.ts';
export type { ThreadValues } from './core/author/thread-value.ts';
export type { VariableDefinition } from './core/author/variable-definition.ts';
export type {
  EntryFields,
  LoadedAgent,
  LoadedModel,
  LoadedPrompt,
  LoadedSide,
} from './core/author/written-definition.ts';
export type { ContextItem, ContextManifest, ContextSection } from './core/context/context-manifest.ts';
export type { HoldCause, RetryCause, SettleCause, SnippetCause, WithQueueTime } from './core/event/cause.ts';
export type { ReportOfChild } from './core/event/event-data.ts';
export type {
  BudgetLineOf,
  InSubprompt,
  NamedAction,
  NamedCall,
  NamedEffect,
  NamedFile,
  NamedWait,
  WithStack,
} from './core/event/event-shape.ts';
export type { EventData, EventKind, ThreadEvent, ThreadEventOf } from './core/event/thread-event.ts';
export type {
  FileChunk,
  FileContent,
  FileRecord,
  FileStats,
  FindResult,
  GrepResult,
  ReaddirResult,
  ThreadFiles,
  WriteFileOptions,
} from './core/file/thread-file.ts';
export type {
  Action,
  ActionArtifact,
  ActionKind,
  ActionState,
  AgentPolicy,
  JudgedAction,
} from './core/governance/agent-policy.ts';
export type { BudgetDefinition } from './core/governance/budget.ts';
export type {
  BudgetAccount,
  BudgetLimit,
  BudgetLine,
  LineLimit,
  RunningClock,
  Spending,
} from './core/governance/budget-line.ts';
export type { Cancellation, CancelRequest } from './core/governance/cancellation.ts';
export type { CapabilityPolicy, PolicyDecision, RuleSource } from './core/governance/capability-policy.ts';
export type { GrantRules } from './core/governance/grant.ts';
export type { Permissions } from './core/governance/permissions.ts';
export type { PolicyEffect, PolicyRules } from './core/governance/policy-rule.ts';
export type { ActionContext, ArtifactInput, PreparedAction } from './core/governance/prepared-action.ts';
export type { GivenContext, RunContext } from './core/governance/run-context.ts';
export type { RunLimits } from './core/governance/run-limit.ts';
export type { SpendingEffect } from './core/governance/spending-verdict.ts';
export type { CompactionGuard, CompactionReason } from './core/guard/compaction.ts';
export type { FailureGuard, PausedFailures } from './core/guard/failure.ts';
export type { Guards } from './core/guard/guards.ts';
export type { LoopDetector, LoopGuard } from './core/guard/loop.ts';
export type { PausedRounds, RoundGuard } from './core/guard/round.ts';
export type { StatusGuard } from './core/guard/status-query.ts';
export type { TeamGuard } from './core/guard/team.ts';
export type { LLMMessage } from './core/message/llm-message.ts';
export type {
  AttachmentRef,
  Message,
  MessageRole,
  MessageStatus,
  SubagentFields,
  ToolAttachment,
  ToolCall,
  ToolResult,
  ToolStatus,
} from './core/message/message.ts';
export type { MessageFields } from './core/message/message-fields.ts';
export type { ModelPrices } from './core/message/model-price.ts';
export type {
  ControlEval,
  StoppedBy,
  StuckGuards,
  TaskDecision,
  TaskEnd,
  TaskLimitName,
  TaskVerdict,
} from './core/task/control.ts';
export type { BackendErrorDetail, TaskEmission } from './core/task/emission.ts';
export type {
  AcquisitionMode,
  AcquisitionPlan,
  KnowledgeFallback,
  KnowledgeImportance,
  KnowledgeQuestion,
  KnowledgeReport,
  KnowledgeRequirement,
  ReadinessDecision,
  RecommendedAction,
} from './core/task/knowledge.ts';
export type { TaskSession, TaskSessions } from './core/task/session.ts';
export type { AgentTaskSpec, TaskBudget } from './core/task/spec.ts';
export type { ChangedSince, ForkedCall, ForkedPart, ForkedState } from './core/thread/forked.ts';
export type { PastCall } from './core/thread/past-call.ts';
export type { Session } from './core/thread/session.ts';
export type { RestStatus, StoredError, ThreadStatus } from './core/thread/step.ts';
export type { ReportKind } from './core/thread/subagent-report.ts';
export type {
  SupersededPart,
  SupersededRows,
  SupersededWork,
} from './core/thread/superseded.ts';
export { ERRORS, type ErrorCode, isRuntimeError, RuntimeError } from './core/value/error.ts';
export type { ModelTimeouts } from './core/value/limit.ts';
export type { Decision, GrantCover, ValueAnswer, WaitAnswer, WaitScope } from './core/wait/answer.ts';
export type { Reconciliation } from './core/wait/reconciliation.ts';
export type { WaitKind, WaitOutcome, WaitState, WaitVerdict } from './core/wait/wait.ts';
export type {
  A2aAgentInput,
  AgentGuardsInput,
  AgentInput,
  AgentInputFields,
  AiHumanAgentInput,
  BudgetInput,
  CompactionGuardInput,
  Confirm,
  DefinedTool,
  Definition,
  DefinitionKind,
  DualAiAgentInput,
  EffectInput,
  ExecuteEffect,
  ExecuteTool,
  FailureGuardInput,
  FieldProblem,
  GuardsInput,
  HookInput,
  LoadedProject,
  LoaderOptions,
  LoopGuardInput,
  ManifestInput,
  McpAddressInput,
  McpProgramInput,
  McpServerInput,
  McpServerTerms,
  ModelCapabilitiesInput,
  ModelInput,
  ModelTimeoutsInput,
  ParsedArguments,
  PolicyDefinitionInput,
  PolicyInput,
  PolicyObjectInput,
  PolicyRulesInput,
  PrepareAction,
  Problem,
  PromptInput,
  PromptPartInput,
  PromptToolInput,
  ReasoningInput,
  RegistryInput,
  ResumableInput,
  RoundGuardInput,
  SessionToolInput,
  SideInput,
  SubagentInput,
  SubpromptInput,
  TaskInput,
  TeamGuardInput,
  ToolArguments,
  ToolEntryInput,
  ToolInput,
  VariableInput,
} from './definitions/index.ts';
export {
  DefinitionError,
  defineA2aAgent,
  defineAgent,
  defineEffect,
  defineHook,
  defineManifest,
  defineMcpServer,
  defineModel,
  definePolicy,
  definePrompt,
  defineTask,
  defineThreadEndpoint,
  defineTool,
  formatProblems,
  isDefinitionError,
  loadProject,
  type MemoryHookInput,
  memoryHook,
  registryFrom,
  requireProject,
  resolveSubject,
} from './definitions/index.ts';
export type {
  Checkpoint,
  ConfirmContext,
  RuntimeEvent,
  RuntimeEventData,
  RuntimeEventType,
  RuntimeFailure,
  SubagentNamed,
  ToolCalled,
} from './projections/agenticx/agenticx-event.ts';
export type {
  FollowAs,
  FollowProjected,
  FollowRunOptions,
  FollowStoryOptions,
  FollowTangleOptions,
  FollowTurnsOptions,
  FormEvents,
  LogForm,
} from './projections/log-form.ts';
export type { Projected } from './projections/projection.ts';
export type { RunEvent, RunEventType, RunSeverity, RunTaskState } from './projections/run/run-event.ts';
export { type RedactionOptions, RedactionPolicy } from './projections/run/run-redaction.ts';
export {
  type DiffLine,
  diffRuns,
  RunReplay,
  type RunSource,
} from './projections/run/run-replay.ts';
export { type ReportOptions, type RunReport, toRunReport } from './projections/run/run-report.ts';
export type { RunTask } from './projections/run/run-task.ts';
export type { RunSpan } from './projections/run/run-trace.ts';
export type { StoryKind, StoryRow } from './projections/story/story-row.ts';
export type { RuntimeStreamEvent, StreamEventData } from './projections/task/stream-event.ts';
export { type TelemetryOptions, toTelemetry } from './projections/task/task-telemetry.ts';
export type { ActionDenial, ActionRecord, ListActions } from './store/action/action-record.ts';
export type { EnvEntry, EnvOwner, ThreadVariable } from './store/env/env-record.ts';
export type {
  ExecutionPlace,
  ExecutionRecord,
  ListExecutions,
  RunRecordState,
} from './store/execution/execution-record.ts';
export type { ChildRecord, FamilyMember, VariableRequest } from './store/family/family-record.ts';
export type { ForkedThread } from './store/fork/fork-record.ts';
export type { Grant, ListGrants } from './store/grant/grant-record.ts';
export type { SupersededTail } from './store/message/message-record.ts';
export { type OpenStoreOptions, openStore } from './store/open-store.ts';
export type {
  GapReason,
  ListModelCalls,
  ModelCallKind,
  ModelCallRecord,
  RequestChange,
  RequestGap,
  RequestState,
  ShownRequest,
} from './store/request/request-record.ts';
export type { ThreadStore } from './store/store.ts';
export type { ListTasks, TaskRecord, TaskStepRecord } from './store/task/task-record.ts';
export type {
  ChangedThread,
  CountThreads,
  ForgottenThread,
  ListChanges,
  ListThreads,
  ThreadChanges,
  ThreadCounts,
  ThreadFilters,
  ThreadPlace,
  ThreadRecord,
  WaitingFor,
} from './store/thread/thread-record.ts';
export type { ListValues, StoredValue } from './store/value/value-record.ts';
export type { ListWaits, Wait } from './store/wait/wait-record.ts';
export type { ToolPayload } from './workflows/messages.ts';
