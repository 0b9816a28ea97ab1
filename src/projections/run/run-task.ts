/** The task of a run: events about its beginning, waits and end, and its form as JSON. */
import type { EventData } from '../../core/event/event-data.ts';
import type { BudgetLineOf, NamedWait } from '../../core/event/event-shape.ts';
import type { RestStatus, StoredError } from '../../core/thread/step.ts';
import { toRequest } from './run-action.ts';
import { type RunEventDraft, type RunTaskState, shortText } from './run-event.ts';
import { type Fields, type RunHandlers, snakeFields, toSnake } from './run-handler.ts';
import { emitFinalAnswer } from './run-model.ts';
import { type OpenAction, type OpenRun, toTime } from './run-state.ts';

/** An execution as a task: its state, its artifacts and its ids. */
export interface RunTask {
  /** The execution's id. */
  readonly id: string;
  readonly state: RunTaskState;
  readonly artifacts: readonly {
    readonly id: string;
    readonly kind: string;
    readonly parts: readonly { readonly type: string; readonly content: unknown }[];
  }[];
  readonly metadata: Readonly<Record<string, unknown>>;
  /** ISO 8601, UTC. */
  readonly created_at: string;
}

function toTask(run: OpenRun, state: RunTaskState, metadata: Fields = {}): RunTask {
  const context = run.context ? { run_context: run.context } : {};
  return {
    id: run.executionId,
    state,
    artifacts: run.artifacts,
    metadata: { thread_id: run.threadId, run_id: run.runId, ...context, ...metadata },
    created_at: toTime(run.startedAt),
  };
}

export function taskStatus(
  [before, after]: readonly [RunTaskState, RunTaskState],
  payload: Fields = {},
  more: Partial<RunEventDraft> = {},
): RunEventDraft {
  return {
    type: 'task.status',
    payload: { previous_state: before, new_state: after, ...payload },
    summary: `Task is ${after}`,
    ...more,
  };
}

export interface RunEnd {
  readonly reason: string;
  /** Absent if the execution ended idle. */
  readonly status?: RestStatus;
  readonly error?: StoredError;
  /** The reason that was given with the cancellation. */
  readonly cancelReason?: string;
}

const STATES: Readonly<Record<RestStatus, RunTaskState>> = {
  idle: 'completed',
  stopped: 'canceled',
  failed: 'failed',
  terminated: 'canceled',
};

export function toTaskState({ status = 'idle' }: Pick<RunEnd, 'status'>): RunTaskState {
  return STATES[status];
}

/** Returns the last events of a run: those of its answer, if it is completed, and the one marked `final`. */
export function endRun(open: OpenRun, end: RunEnd): readonly RunEventDraft[] {
  const state = toTaskState(end);
  const [run, answer] = state === 'completed' ? emitFinalAnswer(open) : [open, []];
  const { cancelReason, error } = end;
  const reason = cancelReason ?? end.reason;
  const why = state === 'canceled' ? { cancel_reason: reason } : { stop_reason: reason };
  const marks = state === 'canceled' && run.context && { canceled: true, cancel_reason: reason };
  const marked = marks ? { ...run, context: { ...run.context, ...marks } } : run;
  const task = toTask(marked, state, { ...why, ...(error ? { error } : {}) });
  const summary =
    state === 'completed' ? 'Task is completed' : shortText(`Task is ${state}: ${error?.message ?? reason}`);
  const metadata = { ...why, ...(error ? { error } : {}) };
  return [...answer, taskStatus(['working', state], { metadata, task }, { summary, final: true })];
}

/** Waits for people. Approvals have their own types of events; for all others the task requires input. */
export const WAIT_HANDLERS: RunHandlers = {
  'wait.opened': (run, { data, at }) => {
    if (delaysOnlySubagent(data)) return [run, []];
    const { wait_id: id, ...asked } = snakeFields(data);
    const action = findAction(run, data);
    const place = { run, at, id, threadId: data.threadId, expiresAt: data.expiresAt };
    const payload = { request: { ...asked, ...toRequest(place, action) } };
    const summary = shortText(data.summary);
    if (data.kind !== 'approval')
      return [run, [taskStatus(['working', 'input-required'], payload, { summary })]];
    const requestEvent = { type: 'approval.required', severity: 'warning', payload, summary } as const;
    return [run, [{ ...requestEvent, ...spanOf(action) }]];
  },
  'wait.answered': (run, { data }) =>
    delaysOnlySubagent(data) ? [run, []] : [run, [toDecision(run, data, data.approved === true)]],
  'wait.closed': (run, { data }) =>
    delaysOnlySubagent(data) ? [run, []] : [run, [toDecision(run, data, data.approved === true)]],
};

/** True for a wait that delays only the creation of a subagent, not the run. */
const delaysOnlySubagent = ({ kind }: NamedWait) => kind === 'variables';

function toDecision(run: OpenRun, data: EventData['wait.answered' | 'wait.closed'], approved: boolean) {
  const { wait_id: id, by = null, ...said } = snakeFields(data);
  const decision = { request_id: id, ...said, decided_by: by };
  if (data.kind !== 'approval') return taskStatus(['input-required', 'working'], { decision });
  const summary = approved ? 'Approved' : 'Not approved';
  const payload = { decision: { ...decision, approved } };
  return { type: 'approval.decided', payload, summary, ...spanOf(findAction(run, data)) } as const;
}

/** Undefined for a call of a descendant: it is no action of this run, whatever its id. */
function findAction(run: OpenRun, { callId, threadId }: NamedWait): OpenAction | undefined {
  return callId === undefined || threadId !== undefined ? undefined : run.actions[callId];
}

const spanOf = (action: OpenAction | undefined) => (action ? { action: action.id } : {});

/** Converts a row about a budget to a decision with the field names of the page. */
function budgetDecision(
  effect: 'warn' | 'deny',
  { limit, max, ...more }: BudgetLineOf,
  observed: number,
): Fields {
  return { effect, limit_name: toSnake(limit), observed, limit: max, metadata: snakeFields(more) };
}

export const BUDGET_HANDLERS: RunHandlers = {
  'budget.warning': (run, { data: { used, ...line } }) => {
    const decision = budgetDecision('warn', line, used);
    const summary = `Near its limit: ${decision.limit_name}`;
    return [run, [{ type: 'budget.warning', payload: { decision }, severity: 'warning', summary }]];
  },
  'budget.exceeded': (run, { data: { observed, ...line } }) => {
    const decision = budgetDecision('deny', line, observed);
    const summary = `Over its limit: ${decision.limit_name}`;
    return [run, [{ type: 'budget.exceeded', payload: { decision }, severity: 'error', summary }]];
  },
};
