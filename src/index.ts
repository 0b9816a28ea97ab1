/** The package's door: what `import … from 'everthread'` reaches. */

export type { ConnectOptions } from './client/connect.ts';
export type { OutgoingMessage } from './client/outgoing.ts';
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
} from './core/code-execution.ts';
export type { EnvType } from './core/env.ts';
export { ERRORS, type ErrorCode, isRuntimeError, RuntimeError } from './core/error.ts';
export type { AttachmentRef, Message, ToolCall, ToolResult } from './core/message.ts';
export type { ThreadStatus } from './core/step.ts';
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
} from './core/thread-file.ts';
export type {
  ExecutionState,
  GetMessagesOptions,
  MessagePage,
  NewMessage,
  ThreadState,
} from './core/thread-state.ts';
export type { ThreadValues } from './core/thread-value.ts';
export type {
  AgentInput,
  ExecuteTool,
  ModelCapabilitiesInput,
  ModelInput,
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
export { defineAgent, defineModel, definePrompt, defineTool } from './definitions/index.ts';
export type { EnvEntry, EnvOwner } from './store/env-port.ts';
export type { ThreadEvent, ThreadRecord } from './store/port.ts';
export type { ListValues, StoredValue } from './store/value-port.ts';
