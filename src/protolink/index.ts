/**
 * The entry `everthread/protolink`: the names of Protolink's runtime page over what Everthread does (docs/protolink.md). Names of methods are in
 * camel case, JSON as on the page. It translates: what it is asked is decided and kept by the engine.
 */
export { type EventSink, InMemoryEventSink } from '../client/event-sink.ts';
export { LocalTraceTelemetry } from '../client/local-trace.ts';
export type { PolicyDecision } from '../core/governance/capability-policy.ts';
export type { RunEvent, RunEventType } from '../projections/run/run-event.ts';
export { RedactionPolicy } from '../projections/run/run-redaction.ts';
export { RunReplay } from '../projections/run/run-replay.ts';
export type { RunReport } from '../projections/run/run-report.ts';
export { assertBudgetUnder, assertNoDeniedActions, assertRunEvents } from '../testing/run-assertions.ts';
export { Agent, type AgentCard, type AgentOptions } from './agent.ts';
export type { AgentTool, RunScope, RunTool } from './agent-tool.ts';
export {
  ActionDeniedError,
  ActionPolicyError,
  type ApprovalDecision,
  type ApprovalHandler,
  type ApprovalRequest,
  ApprovalRequiredError,
  BudgetExceededError,
  CapabilityPolicy,
} from './approval.ts';
export { type Artifact, artifact, type Fields, Part, RunAction, type RunActionFields } from './artifact.ts';
export type { EngineOptions } from './engine.ts';
export { type RunBudget, RunContext } from './run-context.ts';
export { RunRecorder } from './run-recorder.ts';
export { type RunStore, RunStoreSink } from './run-store.ts';
export { Task, type TaskMessage } from './task.ts';
