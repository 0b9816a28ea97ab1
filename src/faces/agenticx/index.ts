/**
 * The entry `everthread/agenticx`: the names of AgenticX's agent runtime page over what Everthread does
 * (docs/agenticx.md). Names of methods and options are in camel case, JSON is as on that page. This layer only
 * translates: decisions and state are the engine's.
 */
export {
  type ConfirmContext,
  EventType,
  isTerminal,
  type RuntimeEvent,
  type RuntimeEventData,
  type RuntimeEventType,
} from '../../projections/agenticx/agenticx-event.ts';
export type { EngineOptions } from '../../worker/in-process.ts';
export { AgentExecutor, type ExecutorResult, type ExecutorWork } from './agent-executor.ts';
export {
  type AgentHook,
  type HookOutcome,
  HookRegistry,
  MemoryHook,
  type ModelResponse,
} from './agent-hook.ts';
export { Agent, type AgentFields, type LlmHooks, Task, type TaskFields } from './agent-model.ts';
export {
  AgentRuntime,
  type AgentRuntimeOptions,
  type LlmDefinition,
  type TurnOptions,
} from './agent-runtime.ts';
export {
  AsyncConfirmGate,
  AutoApproveConfirmGate,
  ConfirmGate,
  type ConfirmRequest,
  SyncConfirmGate,
  type TerminalStreams,
} from './confirm-gate.ts';
export type { ExecutorEvent, ExecutorStats, FinalState } from './event-log.ts';
export type { GuideRail, GuideRailsConfig, GuideRailVerdict } from './guide-rail.ts';
export type { BatchCall, BatchOptions, BatchOutcome } from './parallel-calls.ts';
export { type Environment, maxToolRoundsOf, statusQueryLimitsOf } from './runtime-setting.ts';
export type { Fields, RuntimeTool, RuntimeTools, ToolScope } from './runtime-tool.ts';
export type { ExecutorOptions } from './task-project.ts';
export { type SubagentStatusRow, TeamManager } from './team-manager.ts';
export type { RuntimeSubagent, RuntimeTeam } from './team-project.ts';
