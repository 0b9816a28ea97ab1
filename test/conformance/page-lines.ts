/**
 * Protolink's runtime page, line by line: each heading, row of a table and block of code, with the acceptance cases whose tests show it, the
 * deviation that is on purpose, or what it waits for. What a case's tests show stands in the ledger beside it.
 */

import { differs, type PageLine, rows, shown, waits } from './page-line.ts';

const DOORS = 'the HTTP doors';
const MANIFEST = 'the manifest of contexts';

export const PAGE_LINES: readonly PageLine[] = [
  shown('Why a runtime layer exists', 'PL-04', 'PL-21'),
  shown('the lifecycle (diagram)', 'PL-21'),
  shown('Runtime primitives at a glance', 'PL-01', 'PL-11', 'PL-21'),
  shown('primitive: Task', 'PL-24'),
  shown('primitive: RunContext', 'PL-01'),
  shown('primitive: CancellationToken', 'PL-12'),
  waits('primitive: ContextManifest', MANIFEST),
  shown('primitive: BudgetPolicy / BudgetEnforcer', 'PL-17', 'PL-18'),
  shown('primitive: RunAction', 'PL-11'),
  shown('primitive: Artifact', 'PL-11'),
  shown('primitive: PolicyDecision', 'PL-05'),
  shown('primitive: ApprovalRequest / ApprovalDecision', 'PL-08', 'PL-09'),
  shown('primitive: RunEvent', 'PL-21'),
  shown('primitive: EventSink', 'PL-22'),
  shown('Runtime context', 'PL-01', 'PL-02', 'PL-03'),
  shown('code: a context attached to a task', 'PL-01'),
  shown('Fields', 'PL-01'),
  ...rows(
    'field of RunContext',
    'run_id session_id trace_id workspace_uri agent_chain permissions budget metadata',
    (what) => shown(what, 'PL-01'),
  ),
  shown('field of RunContext: parent_run_id', 'PL-03'),
  waits('field of RunContext: canceled', 'cancelled contexts'),
  shown('Context manifests and budgets', 'PL-17'),
  waits('code: infer() with a budget and a manifest', MANIFEST),
  ...rows(
    'field of ContextManifest',
    'run_id/session_id/agent_name provider/model system_tokens tool_prompt_tokens history_tokens user_tokens total_estimated_tokens context_window context_items',
    (what) => waits(what, MANIFEST),
  ),
  ...rows('limit', 'max_steps max_llm_calls max_tool_calls max_input_tokens max_output_tokens', (what) =>
    shown(what, 'PL-17'),
  ),
  waits('limit: max_runtime_seconds', 'runtime limits'),
  shown('Canceling running tasks', 'PL-12'),
  shown('Cancellation lifecycle (diagram)', 'PL-12'),
  shown('Direct agent cancellation, its code', 'PL-12'),
  waits('Remote cancellation, its code', DOORS),
  shown('Cooperative checkpoints', 'PL-12'),
  shown('Final state and events', 'PL-12'),
  differs(
    'Final state and events: after its end a cancel finds no task',
    'the record is there, so the error says how it has ended',
  ),
  shown('Best-effort guarantees', 'PL-25', 'PL-26'),
  shown('Runtime actions and artifacts', 'PL-11'),
  shown('code: an action with a preview', 'PL-11'),
  shown('Capability policy', 'PL-05'),
  shown('code: a policy and an approval handler', 'PL-04', 'PL-05'),
  waits('Policy.evaluate of an application', 'policies from files'),
  shown('Approval checkpoints', 'PL-07', 'PL-08', 'PL-09'),
  differs(
    'Approval checkpoints: a denial raises',
    'the model reads it and goes on, unless a policy says `onDenied: fail`, as that of an agent of the face does',
  ),
  shown('code: a tool with an action_builder', 'PL-11'),
  differs(
    'action_builder may change arguments',
    'what is done are the arguments that the model and the approver have seen',
  ),
  shown('call_tool_in_context', 'PL-04', 'PL-06', 'PL-07'),
  shown('Run events', 'PL-21'),
  shown('code: events of a stream in a sink', 'PL-21', 'PL-22'),
  ...rows(
    'field of RunEvent',
    'version type run_id task_id agent_name step span_id/parent_span_id action_id/parent_action_id delegation_id severity summary payload',
    (what) => shown(what, 'PL-21'),
  ),
  differs('field of RunEvent: sequence', 'it is the run’s, not the sink’s: all readers see the same numbers'),
  differs('field of RunEvent: final', 'once in a run, on its last event'),
  waits('event: context.prepared', MANIFEST),
  ...rows('event', 'llm.call.started llm.call.completed', (what) => shown(what, 'PL-21')),
  ...rows('event', 'budget.warning budget.exceeded', (what) => shown(what, 'PL-18')),
  ...rows(
    'event',
    'action.requested action.policy approval.required approval.decided action.started action.completed',
    (what) => shown(what, 'PL-21'),
  ),
  shown('event: action.denied / action.failed', 'PL-10', 'PL-26'),
  shown('Event sinks', 'PL-22'),
  shown('code: emit into InMemoryEventSink', 'PL-22'),
  shown('Run reports and replay', 'PL-23'),
  shown('code: recorder, report, redaction, replay, assertions', 'PL-23'),
  ...rows('helper', 'assert_run_events assert_no_denied_actions assert_budget_under', (what) =>
    shown(what, 'PL-23'),
  ),
  shown('Persistent run store', 'PL-24'),
  differs(
    'code: SQLiteRunStore of an agent',
    'every run is in the index already; an own RunStore is given those that have ended',
  ),
  ...rows('record', 'task-snapshots run-reports', (what) => shown(what, 'PL-24')),
  shown('Complete runnable examples: runtime_policy_and_approvals', 'PL-04'),
  shown('Complete runnable examples: task_cancellation', 'PL-12'),
  shown('Golden run tests, their code', 'PL-21'),
  shown('Relationship to telemetry', 'PL-22'),
  waits('the same over HTTP, SSE and WebSocket', DOORS),
];
