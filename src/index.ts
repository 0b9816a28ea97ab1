/** The package's entry: what `import … from 'everthread'` provides. */

export type { ConnectOptions } from './client/connect.ts';
export type { FollowOptions } from './client/follow-events.ts';
export type { OutgoingMessage } from './client/outgoing.ts';
export type { NewAttachment, OutgoingAttachment } from './client/outgoing-file.ts';
export type { ProvidedVariables } from './client/provide-variables.ts';
export { RuntimeClient } from './client/runtime-client.ts';
export type { StartThread } from './client/start-options.ts';
export type { ListThreads, StoredFiles, StoredValues } from './client/stored-threads.ts';
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
  AuthorSchema,
  ModelCapabilities,
  ModelDefinition,
  ParsedBySchema,
  PromptDefinition,
  PromptPart,
  PromptToolEntry,
  ReasoningConfig,
  Registry,
  SessionToolBinding,
  SideDefinition,
  ToolDefinition,
  VariableDefinition,
} from './core/author/definition.ts';
export type { EffectDefinition, ScheduledEffect, ThreadEffects } from './core/author/effect.ts';
export type { EndpointDefinition, EndpointHandler, EndpointParams } from './core/author/endpoint.ts';
export type {
  HookAnswer,
  HookDefinition,
  HookName,
  HookSignatures,
  Kept,
  MessageChange,
} from './core/author/hook.ts';
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
export type {
  EntryFields,
  LoadedAgent,
  LoadedModel,
  LoadedPrompt,
  LoadedSide,
} from './core/author/written-definition.ts';
export type {
  InSubprompt,
  NamedCall,
  NamedEffect,
  NamedFile,
  ReportOfChild,
  WithStack,
} from './core/event/event-data.ts';
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
export type { Cancellation, CancelRequest } from './core/governance/cancellation.ts';
export type { Permissions } from './core/governance/permissions.ts';
export type { GivenContext, RunContext } from './core/governance/run-context.ts';
export type { RunLimits } from './core/governance/run-limit.ts';
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
export type { RestStatus, StoredError, ThreadStatus } from './core/thread/step.ts';
export type { ReportKind } from './core/thread/subagent-report.ts';
export { ERRORS, type ErrorCode, isRuntimeError, RuntimeError } from './core/value/error.ts';
export type { ModelTimeouts } from './core/value/limit.ts';
export type {
  AgentInput,
  Definition,
  DefinitionKind,
  EffectInput,
  ExecuteEffect,
  ExecuteTool,
  FieldProblem,
  HookInput,
  LoadedProject,
  LoaderOptions,
  ModelCapabilitiesInput,
  ModelInput,
  ModelTimeoutsInput,
  ParsedArguments,
  Problem,
  PromptInput,
  PromptPartInput,
  PromptToolInput,
  ReasoningInput,
  RegistryInput,
  ResumableInput,
  SessionToolInput,
  SideInput,
  SubagentInput,
  SubpromptInput,
  ToolArguments,
  ToolEntryInput,
  ToolInput,
  VariableInput,
} from './definitions/index.ts';
export {
  DefinitionError,
  defineAgent,
  defineEffect,
  defineHook,
  defineModel,
  definePrompt,
  defineThreadEndpoint,
  defineTool,
  formatProblems,
  isDefinitionError,
  loadProject,
  registryFrom,
  requireProject,
} from './definitions/index.ts';
export { type OpenStoreOptions, openStore } from './store/open-store.ts';
export type { EnvEntry, EnvOwner } from './store/port/env.ts';
export type { ExecutionRecord, ListExecutions } from './store/port/execution.ts';
export type {
  ChildRecord,
  FamilyMember,
  ThreadRecord,
  ThreadStore,
  VariableRequest,
} from './store/port/thread-store.ts';
export type { ListValues, StoredValue } from './store/port/value.ts';
export type { ToolPayload } from './workflows/messages.ts';
