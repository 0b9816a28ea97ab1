/**
 * Actions: calls of tools, prompts and agents. If a policy judges an action, its events are those of its `action.*`
 * rows. Events that have no such row are derived from the `tool.*` rows: without a policy, an action is requested when
 * its call begins, and no decision is made.
 */
import type { NamedAction } from '../../core/event/event-shape.ts';
import type { EventKind, ThreadEvent, ThreadEventOf } from '../../core/event/thread-event.ts';
import { toolError, UNKNOWN_OUTCOME } from '../../core/message/message.ts';
import { toArtifact } from './run-artifact.ts';
import { llmStream, type RunEventDraft, type RunEventType, shortText } from './run-event.ts';
import { type Fields, type RunHandlers, type RunTransition, snakeFields } from './run-handler.ts';
import { type OpenAction, type OpenRun, toTime } from './run-state.ts';

interface Outcome {
  readonly type: 'action.completed' | 'action.failed' | 'action.canceled';
  readonly payload: Fields;
  readonly summary: string;
}

/** Describes an action, for its own events and those of its approval. */
export function describeAction({ id, name, arguments: given, childId, prepared }: OpenAction): Fields {
  return {
    action_id: id,
    kind: childId ? 'agent.call' : 'tool.call',
    name,
    payload: given === undefined ? {} : { arguments: given },
    ...prepared,
  };
}

interface AskedPlace {
  readonly run: OpenRun;
  readonly id: unknown;
  readonly at: number;
  /** Set for a request of a descendant. */
  readonly threadId?: string | undefined;
  readonly expiresAt?: number | null;
}

/** The request of an action for an approval, whether or not somebody can be asked. */
export function toRequest(
  { run, id, at, threadId, expiresAt = null }: AskedPlace,
  action?: OpenAction,
): Fields {
  const shown = action && { action: describeAction(action), policy_decision: action.decision ?? null };
  return {
    request_id: id,
    run_id: run.runId,
    ...shown,
    created_at: toTime(at),
    expires_at: expiresAt === null ? null : toTime(expiresAt),
    metadata: { thread_id: threadId ?? run.threadId },
  };
}

function actionDraft(
  action: OpenAction,
  type: RunEventType,
  payload: Fields,
  more: Partial<RunEventDraft> = {},
): RunEventDraft {
  const isDelegated = action.childId || action.prepared?.kind === 'agent.call';
  const delegation = isDelegated ? { delegation: action.id } : {};
  return { type, payload: { ...payload, action_id: action.id }, action: action.id, ...delegation, ...more };
}

const setAction = (run: OpenRun, callId: string, action: OpenAction): OpenRun => ({
  ...run,
  actions: { ...run.actions, [callId]: action },
});

function removeAction(run: OpenRun, callId: string): OpenRun {
  const { [callId]: _, ...actions } = run.actions;
  return { ...run, actions };
}

/** Events derived from the row of a call that begins, and those that end an action. */
const START_TYPES: readonly RunEventType[] = ['action.requested', 'action.started'];
const END_TYPES: readonly RunEventType[] = ['action.completed', 'action.failed', 'action.denied'];

const ERROR_SEVERITY = { severity: 'error' } as const;

const summaryOf = ({ name }: OpenAction, type: RunEventType) => `${name}: ${type.slice('action.'.length)}`;

/** Returns the outcome of a call. Its result is the message before this row. */
function toOutcome(
  action: OpenAction,
  run: OpenRun,
  event: ThreadEvent,
  failed: boolean,
  uncertain: boolean,
): Outcome {
  const { content = null, code, stopped } = run.said ?? {};
  const about = { action: describeAction(action), step: event.step };
  if (!failed)
    return {
      type: 'action.completed',
      payload: { ...about, result: content },
      summary: `${action.name} is done`,
    };
  // What a cancellation ends is no error.
  if (stopped) return { type: 'action.canceled', payload: about, summary: `${action.name} is cancelled` };
  return {
    type: 'action.failed',
    payload: {
      ...about,
      error: content === null ? content : (toolError(content) ?? content),
      ...(code ? { error_code: code } : {}),
      ...(uncertain ? { uncertain } : {}),
    },
    summary: shortText(content ?? `${action.name} has failed`),
  };
}

function finishAction(
  run: OpenRun,
  event: ThreadEvent,
  { callId, failed, uncertain = false }: { callId: string; failed: boolean; uncertain?: boolean },
): RunTransition {
  const action = run.actions[callId];
  if (!action) return [run, []];
  const after = removeAction(run, callId);
  if (action.told?.some((type) => END_TYPES.includes(type))) return [after, []];
  const { type, payload, summary } = toOutcome(action, run, event, failed, uncertain);
  return [
    after,
    [actionDraft(action, type, payload, { summary, ...(type === 'action.failed' ? ERROR_SEVERITY : {}) })],
  ];
}

export const ACTION_HANDLERS: RunHandlers = {
  'tool.called': (run, { step = null, data: { name, callId, queued, depth } }) => {
    const count = run.asked.step === step ? run.asked.count : 0;
    const { [callId]: text, ...left } = run.arguments;
    const given = text === undefined ? {} : { arguments: parse(text) };
    const action = { id: `${run.threadId}:${step}:${count}`, name, step, depth, ...given };
    const next = {
      ...run,
      asked: { step, count: count + 1 },
      arguments: left,
      ...(depth ? {} : { answer: null }),
    };
    const asks = { type: 'tool_call', tool: name, call_id: callId, args: given.arguments };
    const actionEvent = llmStream('llm_action', { step, action: asks }, { summary: `Calls ${name}` });
    // No model asked for a call that a person or code has queued.
    return [setAction(next, callId, action), queued ? [] : [actionEvent]];
  },
  'tool.started': (run, { data: { callId } }) => {
    const action = run.actions[callId];
    if (!action) return [run, []];
    const payload = { action: describeAction(action) };
    const missing = START_TYPES.filter((type) => !action.told?.includes(type));
    return [
      setAction(run, callId, { ...action, told: [...(action.told ?? []), ...missing] }),
      missing.map((type) => actionDraft(action, type, payload, { summary: summaryOf(action, type) })),
    ];
  },
  'tool.result': (run, event) => {
    const { callId, status } = event.data;
    return finishAction(run, event, { callId, failed: status === 'error' });
  },
  'tool.unknown': (run, event) =>
    finishAction(run, event, { callId: event.data.callId, failed: true, uncertain: true }),
  'tool.removed': (run, { data: { callId } }) => [removeAction(run, callId), []],
  'tool.invoked': (run, { seq, step = null, data: { name, status, durationMs } }) => {
    const action = { id: `${run.threadId}:invoked:${seq}`, name, step };
    const failed = status === 'error';
    const payload = { action: describeAction(action), latency_ms: durationMs, invoked: true };
    const ended = actionDraft(action, failed ? 'action.failed' : 'action.completed', payload, {
      summary: failed ? `${name} has failed` : `${name} is done`,
      ...(failed ? { severity: 'error' } : {}),
    });
    return [run, [ended]];
  },
  'subagent.created': (run, { data: { childId, agent, callId } }) => {
    const action = callId === undefined ? undefined : run.actions[callId];
    const payload = { child_thread_id: childId, child_agent: agent };
    if (!action || callId === undefined)
      return [run, [{ type: 'task.progress', payload, summary: `${agent} is started` }]];
    const delegated = { ...action, childId };
    const started = actionDraft(delegated, 'task.progress', payload, { summary: `${agent} is started` });
    return [setAction(run, callId, delegated), [started]];
  },
  'subagent.returned': (run, { data: { childId, agent, by } }) => [
    run,
    [
      {
        type: 'task.progress',
        payload: { child_thread_id: childId, child_agent: agent, by },
        summary: `${agent} has reported`,
      },
    ],
  ],
  'subagent.failed': (run, { data: { childId, agent, by, kind } }) => [
    run,
    [
      {
        type: 'task.progress',
        payload: { child_thread_id: childId, child_agent: agent, by, kind },
        summary: `${agent}: ${kind}`,
        severity: 'warning',
      },
    ],
  ],
};

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

type ActionRow = Extract<EventKind, `action.${string}`>;

/** The key of an open action is the id of its call, or its own if code has invoked it. */
const findOpen = (run: OpenRun, id: string) => Object.entries(run.actions).find(([, each]) => each.id === id);

/** The end of a call is told with its result, which is in a later row. */
function unlessCall<Row extends ThreadEventOf<ActionRow>>(
  handler: (run: OpenRun, event: Row) => RunTransition,
): (run: OpenRun, event: Row) => RunTransition {
  return (run, event) => {
    const { actionId } = event.data;
    const [key = actionId] = findOpen(run, actionId) ?? [];
    return key === actionId ? handler(run, event) : [run, []];
  };
}

/** Converts a row of `action.*` to an event, and records its type so that no other row emits it again. */
function governedHandler(
  type: RunEventType,
  toPayload: (said: Fields) => Fields = () => ({}),
  more: Partial<RunEventDraft> = {},
): (run: OpenRun, event: ThreadEventOf<ActionRow>) => RunTransition {
  return (run, { at, data }) => {
    const { actionId: id, name, ...said } = data as NamedAction & Fields;
    const [key, before] = findOpen(run, id) ?? [id, { id, name, step: null }];
    const types = [...(before?.told ?? []), type];
    const action: OpenAction = {
      ...before,
      ...(type === 'action.requested' ? toJudged(said) : {}),
      ...(type === 'action.policy' ? { decision: snakeFields(said) } : {}),
      told: types,
    };
    const unasked = said.code === 'ApprovalRequired' && { request: toRequest({ run, id, at }, action) };
    const payload = { action: describeAction(action), ...toPayload(snakeFields(said)), ...unasked };
    // The row of a call ends it; no later row ends an action that code invokes itself.
    const isOver = key === id && END_TYPES.includes(type);
    const next = isOver ? removeAction(run, key) : setAction(run, key, action);
    return [next, [actionDraft(action, type, payload, { summary: summaryOf(action, type), ...more })]];
  };
}

/** Converts the data of an action, and its artifacts, to the field names of the page. */
function toJudged({ artifacts, callId: _, arguments: given, ...said }: Fields): Partial<OpenAction> {
  const shown = Array.isArray(artifacts) ? artifacts.map(toArtifact) : [];
  const prepared = { ...snakeFields(said), ...(shown.length > 0 ? { artifacts: shown } : {}) };
  return { prepared, ...(given === undefined ? {} : { arguments: given }) };
}

const samePayload = (said: Fields): Fields => said;

const toReconciliation = (said: Fields): Fields => ({ reconciliation: said });
const RECONCILED_HANDLER = governedHandler('action.completed', toReconciliation);
const UNDONE_HANDLER = governedHandler('action.failed', toReconciliation);

export const GOVERNED_HANDLERS: { readonly [Kind in ActionRow]: NonNullable<RunHandlers[Kind]> } = {
  'action.requested': governedHandler('action.requested'),
  'action.policy': governedHandler('action.policy', (decision) => ({ decision })),
  'action.started': governedHandler('action.started'),
  'action.completed': unlessCall(governedHandler('action.completed')),
  'action.failed': unlessCall(governedHandler('action.failed', samePayload, ERROR_SEVERITY)),
  'action.denied': governedHandler('action.denied', samePayload, ERROR_SEVERITY),
  'action.uncertain': governedHandler(
    'action.failed',
    () => ({ error: UNKNOWN_OUTCOME, uncertain: true }),
    ERROR_SEVERITY,
  ),
  'action.reconciled': (run, event) =>
    (event.data.completed ? RECONCILED_HANDLER : UNDONE_HANDLER)(run, event),
};
