/**
 * The entry `everthread/protolink`: the names of Protolink's runtime page over what Everthread does
 * (docs/protolink.md). Names of methods are in camel case, JSON is as on that page. This layer only translates:
 * decisions and state are the engine's.
 */
export { type EventSink, InMemoryEventSink } from '../../client/event-sink.ts';
export { LocalTraceTelemetry } from '../../client/local-trace.ts';
export { RunRecorder } from '../../client/run-recorder.ts';
export { type RunStore, RunStoreSink } from '../../client/run-store.ts';
export type { JudgedSpending, PolicyVerdict, SpendingAnswer } from '../../core/author/policy.ts';
export type { BudgetLine } from '../../core/governance/budget-line.ts';
export type { PolicyDecision } from '../../core/governance/capability-policy.ts';
export type { RunLimits as RunBudget } from '../../core/governance/run-limit.ts';
export type { RunEventType } from '../../projections/run/run-event.ts';
export type { RunManifest as ContextManifest } from '../../projections/run/run-manifest.ts';
export { RedactionPolicy } from '../../projections/run/run-redaction.ts';
export { RunReplay } from '../../projections/run/run-replay.ts';
export type { RunReport } from '../../projections/run/run-report.ts';
export type { RunTask } from '../../projections/run/run-task.ts';
export { assertBudgetUnder, assertNoDeniedActions, assertRunEvents } from '../../testing/run-assertions.ts';
export type { EngineOptions } from '../../worker/in-process.ts';
export { Agent, type AgentCard, type AgentOptions } from './agent.ts';
export { AgentClient, type AgentClientOptions, type CancelOptions, type TaskEvent } from './agent-client.ts';
export type { AgentTool, RunScope, RunTool } from './agent-tool.ts';
export type { ApprovalDecision, ApprovalHandler, ApprovalRequest } from './approval.ts';
export { type Artifact, artifact, type Fields, Part, RunAction, type RunActionFields } from './artifact.ts';
export { BudgetPolicy } from './budget-policy.ts';
export { CancellationToken } from './cancellation-token.ts';
export type { LlmDefinition } from './definitions.ts';
export {
  ActionDeniedError,
  ApprovalRequiredError,
  BudgetExceededError,
  TaskAlreadyRunningError,
  TaskNotCancelableError,
  TaskNotFoundError,
} from './failure.ts';
export { createLlm, type InferOptions, LLM, type LLMModelProfile, type LLMOptions } from './llm.ts';
export { CapabilityPolicy, type Policy } from './policy.ts';
export { RunContext } from './run-context.ts';
export { RunEvent } from './run-event.ts';
export { Task, type TaskMessage } from './task.ts';
