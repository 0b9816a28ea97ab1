/**
 * Calls of tools and subagents. The client is shown the agent's calls, and only answers the waits that they open. Calls
 * of the client's own tools are run by the client.
 * - A call is emitted once, because clients append every piece of arguments to those that they have.
 * - Calls of a client's tools use its names, and all are emitted at the latest when one is waited for. The client
 *   returns all their results together.
 */
import type { EventData } from '../../core/event/event-data.ts';
import { parseClientToolName } from '../../core/project/client-tool.ts';
import type { WaitKind } from '../../core/wait/wait.ts';
import type { AgUiEvent, AgUiInterrupt } from './ag-ui-event.ts';
import type { AgUiHandlers, AgUiTransition } from './ag-ui-handler.ts';
import type { OpenRun } from './ag-ui-state.ts';

export const CALL_HANDLERS: AgUiHandlers = {
  'tool.called': (run, { data: { name, callId, depth } }) =>
    depth === undefined ? emitCall(run, callId, name) : [run, []],
  'tool.result': (run, { data: { callId } }) => emitResult(run, callId),
  'tool.unknown': (run, { data: { callId } }) => emitResult(run, callId),
  'tool.removed': (run, { data: { callId } }) =>
    emitResult({ ...run, said: { id: `removed-${callId}`, content: 'The call was removed.' } }, callId),
  'subagent.created': (run, { data: { childId, agent, name, callId } }) => {
    const call = callId === undefined ? {} : { parentToolCallId: callId };
    const started: AgUiEvent = {
      type: 'SUBAGENT_STARTED',
      subagentRunId: childId,
      name: name ?? agent,
      ...call,
    };
    return [{ ...run, subagents: { ...run.subagents, [childId]: true } }, [started]];
  },
  'subagent.returned': (run, { data: { childId } }) =>
    endSubagent(run, childId, {
      type: 'SUBAGENT_FINISHED',
      subagentRunId: childId,
      outcome: { type: 'success' },
    }),
  'subagent.failed': (run, { data: { childId, agent, kind } }) =>
    endSubagent(run, childId, {
      type: 'SUBAGENT_ERROR',
      subagentRunId: childId,
      message: `${agent}: ${kind}`,
    }),
  'wait.opened': (run, { data }) => [openWait(run, data), []],
  'wait.answered': (run, { data: { waitId } }) => closeWait(run, waitId),
  'wait.closed': (run, { data: { waitId } }) => closeWait(run, waitId),
  'thread.status': (run, { data: { status } }) => [{ ...run, waiting: status === 'waiting' }, []],
};

function emitCall(run: OpenRun, toolCallId: string, name: string): AgUiTransition {
  const { [toolCallId]: asked, ...left } = run.asked;
  if (toolCallId in run.calls) return [{ ...run, asked: left }, []];
  const parent = asked ? { parentMessageId: asked.parent } : {};
  const given = asked?.given ?? '{}';
  const { [toolCallId]: streamed, ...inputs } = run.inputs;
  const rest = given.slice(streamed?.length ?? 0);
  const start: AgUiEvent[] =
    streamed === undefined
      ? [{ type: 'TOOL_CALL_START', toolCallId, toolCallName: parseClientToolName(name) ?? name, ...parent }]
      : [];
  const more: AgUiEvent[] = rest === '' ? [] : [{ type: 'TOOL_CALL_ARGS', toolCallId, delta: rest }];
  return [
    { ...run, asked: left, inputs, calls: { ...run.calls, [toolCallId]: true } },
    [...start, ...more, { type: 'TOOL_CALL_END', toolCallId }],
  ];
}

/** Marks the pending calls as emitted, because a snapshot has shown their messages. */
export function withShownCalls(run: OpenRun): OpenRun {
  const shown = Object.keys(run.asked).map((id) => [id, true] as const);
  return { ...run, asked: {}, calls: { ...run.calls, ...Object.fromEntries(shown) } };
}

/** Emits the client's calls that were not emitted yet. */
export function emitClientCalls(run: OpenRun): AgUiTransition {
  let next = run;
  const interrupted: AgUiEvent[] = [];
  for (const [id, { name }] of Object.entries(run.asked)) {
    if (parseClientToolName(name) === undefined) continue;
    const [after, events] = emitCall(next, id, name);
    next = after;
    interrupted.push(...events);
  }
  return [next, interrupted];
}

function emitResult(run: OpenRun, toolCallId: string): AgUiTransition {
  const { [toolCallId]: known, ...calls } = run.calls;
  if (!known || !run.said) return [run, []];
  const { id: messageId, content } = run.said;
  const resultEvent = {
    type: 'TOOL_CALL_RESULT',
    messageId,
    toolCallId,
    content: content ?? '',
    role: 'tool',
  } as const;
  return [{ ...run, calls }, [resultEvent]];
}

function endSubagent(run: OpenRun, childId: string, ending: AgUiEvent): AgUiTransition {
  const { [childId]: known, ...subagents } = run.subagents;
  return known ? [{ ...run, subagents }, [ending]] : [run, []];
}

function openWait(run: OpenRun, wait: EventData['wait.opened']): OpenRun {
  const { waitId, kind, name, callId, threadId } = wait;
  // A question of a descendant is not for this run's client.
  const isOfClient = kind === 'question' && threadId === undefined && parseClientToolName(name) !== undefined;
  if (isOfClient && callId !== undefined)
    return { ...run, clientWaits: { ...run.clientWaits, [waitId]: callId } };
  return { ...run, waits: { ...run.waits, [waitId]: toInterrupt(wait) } };
}

function closeWait(run: OpenRun, waitId: string): AgUiTransition {
  const { [waitId]: _, ...waits } = run.waits;
  const { [waitId]: __, ...clientWaits } = run.clientWaits;
  return [{ ...run, waits, clientWaits }, []];
}

const INTERRUPT_REASONS: Readonly<Record<WaitKind, string>> = {
  approval: 'tool_call',
  question: 'input_required',
  variables: 'input_required',
  paused: 'confirmation',
  reconcile: 'input_required',
};

const DECISION_SCHEMA = {
  type: 'object',
  properties: { approved: { type: 'boolean' }, reason: { type: 'string' } },
  required: ['approved'],
};
const APPROVAL_SCHEMA = {
  ...DECISION_SCHEMA,
  // In place of the call's own; for this call alone.
  properties: { ...DECISION_SCHEMA.properties, arguments: { type: 'object' } },
};
const VALUE_SCHEMA = { type: 'object', properties: { value: {} }, required: ['value'] };
const RESPONSE_SCHEMAS: Readonly<Record<WaitKind, Readonly<Record<string, unknown>>>> = {
  approval: APPROVAL_SCHEMA,
  paused: DECISION_SCHEMA,
  question: VALUE_SCHEMA,
  variables: VALUE_SCHEMA,
  reconcile: VALUE_SCHEMA,
};

function toInterrupt(wait: EventData['wait.opened']): AgUiInterrupt {
  const { waitId: id, kind, name, callId, threadId, summary, expiresAt } = wait;
  return {
    id,
    reason: INTERRUPT_REASONS[kind],
    message: summary,
    // The client does not know the calls of descendants.
    ...(callId === undefined || threadId !== undefined ? {} : { toolCallId: callId }),
    responseSchema: RESPONSE_SCHEMAS[kind],
    ...(expiresAt === null ? {} : { expiresAt: new Date(expiresAt / 1000).toISOString() }),
    metadata: { kind, name, ...(threadId === undefined ? {} : { threadId }) },
  };
}
