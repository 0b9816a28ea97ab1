/**
 * The entry point `everthread/tangle/worker`: the parts of `everthread/tangle` that run in Workers, namely chat turns
 * in remote boxes, backends, the catalogue and rows of runs (docs/tangle.md). Nothing here, and nothing that it
 * imports, needs Node or its environment.
 */
export { deriveExecutionId, type TurnPlace } from '../../core/thread/execution-id.ts';
export type { ChatTurnIdentity, ChatTurnLine } from '../../projections/tangle/chat-turn.ts';
export {
  isLastEvent,
  type TangleEvent,
  type TangleEventData,
  type TangleEventType,
} from '../../projections/tangle/tangle-event.ts';
export {
  type AgentExecutionBackend,
  type BackendContext,
  type BackendEvent,
  type BackendInput,
  type BackendMessage,
  type BackendOutput,
  type BackendSession,
  type BackendTask,
  createIterableBackend,
  type LlmCall,
} from './backend/backend.ts';
export {
  createOpenAICompatibleBackend,
  type OpenAICompatibleBackendOptions,
} from './backend/openai-compatible.ts';
export type { BackendFetch, RetryOptions } from './backend/retry.ts';
export { createSandboxPromptBackend, type SandboxPromptBackendOptions } from './backend/sandbox-prompt.ts';
export {
  type Box,
  type BoxEvent,
  type Produce,
  type Production,
  type PromptOptions,
  type RemoteBox,
  type RemoteBoxOptions,
  remoteBox,
} from './box/remote-box.ts';
export { ConfigError, NotFoundError, RuntimeRunStateError, SessionMismatchError } from './failure.ts';
export * from './models.ts';
export {
  type LedgerEvent,
  type RunCompletion,
  type RunCost,
  type RunRow,
  type RunRowAdapter,
  type RunStatus,
  type RuntimeRun,
  type RuntimeRunOptions,
  startRuntimeRun,
} from './run/runtime-run.ts';
export {
  createTelemetry,
  type Telemetry,
  type TelemetryEvent,
  type TelemetryOptions,
  type TelemetrySummary,
} from './run/telemetry.ts';
export {
  type ChatTurnBody,
  type ChatTurnHandlerOptions,
  type ChatTurnHooks,
  type ChatTurnInput,
  type ChatTurnRequest,
  createChatTurnHandler,
  handleChatTurn,
} from './turn/chat-turn.ts';
export type { ProducedTurn, ProducedTurnHooks, ProduceTurn, SaidTurn } from './turn/produced-turn.ts';
