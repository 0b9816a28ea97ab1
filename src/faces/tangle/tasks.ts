/** Exports manifests and tasks of the engine under the names of Tangle's page (docs/tasks.md). */
export type {
  ManifestDefinition,
  ManifestIssue,
  ManifestSurfaces,
  Rubric,
  RubricDimension,
  ScoredRun,
} from '../../core/author/manifest.ts';
export { type RubricScore, scoreRun as scoreAgentRun } from '../../core/author/rubric-score.ts';
export type {
  ActContext,
  ActionOutcome,
  AgentAdapter,
  DecideContext,
  KnowledgeProvider,
  TaskContext,
  TaskControl,
  TaskRunRecord,
} from '../../core/author/task.ts';
export type { ControlEval, TaskDecision, TaskEnd, TaskVerdict } from '../../core/task/control.ts';
export type { BackendErrorDetail } from '../../core/task/emission.ts';
export {
  type AcquisitionPlan,
  decideReadiness as decideKnowledgeReadiness,
  type KnowledgeQuestion,
  type KnowledgeReport,
  type KnowledgeRequirement,
  type ReadinessDecision,
  reportKnowledge,
} from '../../core/task/knowledge.ts';
export type { TaskSession, TaskSessions } from '../../core/task/session.ts';
export type { AgentTaskSpec } from '../../core/task/spec.ts';
export {
  defineManifest as defineAgent,
  type ManifestInput,
  resolveSubject,
} from '../../definitions/index.ts';
export type { RuntimeStreamEvent } from '../../projections/task/stream-event.ts';
export { toTelemetry as sanitizeRuntimeStreamEvent } from '../../projections/task/task-telemetry.ts';
export { TaskAlreadyRunningError } from './failure.ts';
export {
  type BackendAdapter,
  type BackendResult,
  type BackendTaskInputs,
  backendTask,
} from './task/backend-task.ts';
export {
  type GivenAdapter,
  type RunAgentTaskOptions,
  runAgentTask,
  runAgentTaskStream,
  type StreamedEvent,
} from './task/run-agent-task.ts';
export type { AgentTaskResult } from './task/task-result.ts';
