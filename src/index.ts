/** The package's entry: what `import … from 'everthread'` provides. */

export type { ConnectOptions } from './client/connect.ts';
export type { OutgoingMessage } from './client/outgoing.ts';
export type { NewAttachment, OutgoingAttachment } from './client/outgoing-file.ts';
export type { ProvidedVariables } from './client/provide-variables.ts';
export { RuntimeClient } from './client/runtime-client.ts';
export type { StartThread } from './client/start-options.ts';
export type { StoredFiles, StoredValues } from './client/stored-threads.ts';
export type {
  CodeExecution,
  CodeExecutionError,
  CodeExecutionLog,
  CodeExecutionOptions,
  CodeExecutionResult,
  CodeExecutionStatus,
} from './core/author/code-execution.ts';
export type { ScheduledEffect } from './core/author/effect.ts';
export type { EndpointHandler, EndpointParams } from './core/author/endpoint.ts';
export type { HookName, HookSignatures, MessageChange } from './core/author/hook.ts';
export type { EnvType } from './core/author/thread-env.ts';
export type { ExecutionState } from './core/author/thread-execution.ts';
export type { SubagentRegistryEntry } from './core/author/thread-family.ts';
export type { GetLogsOptions, Log } from './core/author/thread-log.ts';
export type {
  GetMessagesOptions,
  MessageAttachment,
  MessagePage,
  MessageUpdates,
  NewMessage,
  QueuedMessage,
} from './core/author/thread-message.ts';
export type { ThreadState } from './core/author/thread-state.ts';
export type { ThreadValues } from './core/author/thread-value.ts';
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
export type { AttachmentRef, Message, ToolAttachment, ToolCall, ToolResult } from './core/message/message.ts';
export type { ThreadStatus } from './core/thread/step.ts';
export { ERRORS, type ErrorCode, isRuntimeError, RuntimeError } from './core/value/error.ts';
export type {
  AgentInput,
  EffectInput,
  ExecuteEffect,
  ExecuteTool,
  HookInput,
  ModelCapabilitiesInput,
  ModelInput,
  ModelTimeoutsInput,
  ParsedArguments,
  PromptInput,
  PromptPartInput,
  PromptToolInput,
  ReasoningInput,
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
  defineAgent,
  defineEffect,
  defineHook,
  defineModel,
  definePrompt,
  defineThreadEndpoint,
  defineTool,
} from './definitions/index.ts';
export type { EnvEntry, EnvOwner } from './store/port/env.ts';
export type {
  ChildRecord,
  FamilyMember,
  ThreadRecord,
  VariableRequest,
} from './store/port/thread-store.ts';
export type { ListValues, StoredValue } from './store/port/value.ts';
