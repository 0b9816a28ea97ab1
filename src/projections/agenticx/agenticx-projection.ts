/**
 * Projects the log as AgenticX's RuntimeEvents. It may begin at the start of any execution, which is a turn here.
 * - A turn has exactly one terminal event, its last: `final`, or an `error` with `terminal: true`.
 * - Nothing that happens between turns is emitted.
 */
import type { EventData, ReportOfChild } from '../../core/event/event-data.ts';
import type { NamedWait } from '../../core/event/event-shape.ts';
import type { ThreadEvent } from '../../core/event/thread-event.ts';
import { parseRecord } from '../../core/value/record.ts';
import type { LogRow, Projection } from '../projection.ts';
import { argumentsOf, toRowMessage } from '../row-message.ts';
import type { RuntimeEvent } from './agenticx-event.ts';
import { type OpenReport, type OpenTurn, openTurn, type TurnReading } from './agenticx-state.ts';
import type { TurnAgent, TurnDraft, TurnHandlers, TurnTransition } from './turn-handler.ts';
import { checkpoint, ROUND_HANDLERS } from './turn-rounds.ts';

export const projectTurns: Projection<TurnReading, RuntimeEvent> = (reading, row) => {
  const { event } = row;
  const { turn } = reading;
  if (event.type === 'execution.started')
    return [{ ...reading, turn: openTurn(event.data.executionId, event.data.maxRounds) }, []];
  if (!turn) return [reading, []];
  if (event.type === 'execution.ended')
    return [
      { ...reading, turn: null },
      [...endReports(turn), endTurn(turn, event.data)].map((draft) => addAgentId(reading, draft)),
    ];
  const [next, drafts] =
    event.type === 'message.created' ? rememberMessage(turn, row) : handle(turn, event, reading);
  return [{ ...reading, turn: next }, drafts.map((draft) => addAgentId(reading, draft))];
};

function handle(turn: OpenTurn, event: ThreadEvent, of: TurnAgent): TurnTransition {
  // The handler is looked up by the type of the event, so the cast is safe.
  const handler = HANDLERS[event.type] as
    | ((turn: OpenTurn, event: ThreadEvent, of: TurnAgent) => TurnTransition)
    | undefined;
  return handler ? handler(turn, event, of) : [turn, []];
}

function addAgentId({ agentId: own }: TurnReading, { agentId = own, ...draft }: TurnDraft): RuntimeEvent {
  return { ...draft, agent_id: agentId } as RuntimeEvent;
}

/** Remembers a message: it is emitted with the row that shows what it is, such as an answer or a result. */
function rememberMessage(turn: OpenTurn, { event, message }: LogRow): TurnTransition {
  if (event.type !== 'message.created') return [turn, []];
  const said = toRowMessage(event.data.messageId, message);
  const next = { ...turn, said, arguments: { ...turn.arguments, ...argumentsOf(message) } };
  const childId = message?.metadata?.subagent_id;
  const report = typeof childId === 'string' ? turn.reports[childId] : undefined;
  if (typeof childId !== 'string' || !report || (report.by === 'call') !== (message?.role === 'tool'))
    return [next, []];
  const { [childId]: _, ...reports } = turn.reports;
  return [{ ...next, reports }, [reportDraft(childId, report, said.content ?? '')]];
}

/**
 * Calls of tools: by the agent, by its prompts and by people. A call is always emitted before its result. For a refused
 * call an `error` is emitted, too, which does not end the turn.
 */
const CALL_HANDLERS: TurnHandlers = {
  'tool.called': (turn, { data: { name, callId, depth } }) => {
    const { [callId]: given = '{}', ...left } = turn.arguments;
    const calls = { ...turn.calls, [callId]: { name, given } };
    const own = depth === undefined && !turn.tools.includes(name) ? [...turn.tools, name] : turn.tools;
    const called = { name, arguments: parseRecord(given) ?? {}, tool_call_id: callId };
    return [{ ...turn, arguments: left, calls, tools: own }, [{ type: 'tool_call', data: called }]];
  },
  'tool.result': (turn, { data: { callId, status, refused } }) =>
    finishCall(turn, callId, { failed: status === 'error', refused }),
  'tool.unknown': (turn, { data: { callId } }) => finishCall(turn, callId, { failed: true }),
  'tool.removed': (turn, { data: { callId } }) => [removeCall(turn, callId), []],
};

function finishCall(
  turn: OpenTurn,
  callId: string,
  { failed, refused = false }: { readonly failed: boolean; readonly refused?: boolean | undefined },
): TurnTransition {
  const call = turn.calls[callId];
  if (!call) return [turn, []];
  const text = turn.said?.content ?? '';
  const result = { name: call.name, result: text, tool_call_id: callId, is_error: failed };
  return [
    removeCall(turn, callId),
    [
      ...(refused && !call.declined
        ? [{ type: 'error', data: { text, terminal: false, tool_call_id: callId } } as const]
        : []),
      { type: 'tool_result', data: result },
    ],
  ];
}

function removeCall(turn: OpenTurn, callId: string): OpenTurn {
  const { [callId]: _, ...calls } = turn.calls;
  return { ...turn, calls };
}

/** The end of a turn, and what is remembered for it. */
const END_HANDLERS: TurnHandlers = {
  'loop.critical': (turn, { data: { detector } }) => [{ ...turn, detector }, []],
};

/** If the turn ended idle, its answer, empty if there is none; else a terminal error. */
function endTurn(turn: OpenTurn, end: EventData['execution.ended']): TurnDraft {
  const { status = 'idle', reason, error, cancelReason } = end;
  if (status === 'idle') return { type: 'final', data: { text: turn.answer } };
  const text = error?.message ?? cancelReason ?? reason;
  const detector = turn.detector === null ? {} : { detector: turn.detector };
  return { type: 'error', data: { text, terminal: true, ...detector } };
}

/** Subagents of the turn's agent. Their own work is in the logs of their threads, as separate turns. */
const SUBAGENT_HANDLERS: TurnHandlers = {
  'subagent.created': (turn, { data: { childId, agent, name, callId } }) => {
    const task = callId === undefined ? '' : (turn.calls[callId]?.given ?? '');
    const named = name ?? agent;
    const data = {
      ...subagentFields(childId, named),
      role: agent,
      task,
      status: 'running',
      mode: 'session',
    } as const;
    const next = { ...turn, names: { ...turn.names, [childId]: named } };
    return [next, [{ type: 'subagent_started', data }]];
  },
  'subagent.status': (turn, { data: { childId, status } }) => [
    turn,
    [{ type: 'subagent_progress', data: { agent_id: childId, text: status } }],
  ],
  'subagent.returned': (turn, { data: { agent, ...data } }) =>
    addReport(turn, data, { agent, status: COMPLETED }),
  'subagent.failed': (turn, { data: { agent, kind, ...data } }) =>
    addReport(turn, data, { agent, status: kind }),
};

const COMPLETED = 'completed';

function addReport(
  turn: OpenTurn,
  { childId, by, reason = '' }: Pick<ReportOfChild, 'childId' | 'by' | 'reason'>,
  { agent, status }: { readonly agent: string; readonly status: string },
): TurnTransition {
  const report = { name: turn.names[childId] ?? agent, status };
  if (by === 'dropped') return [turn, [reportDraft(childId, report, reason)]];
  return [{ ...turn, reports: { ...turn.reports, [childId]: { ...report, by } } }, []];
}

function reportDraft(childId: string, { name, status }: Omit<OpenReport, 'by'>, summary: string): TurnDraft {
  const of = subagentFields(childId, name);
  return status === COMPLETED
    ? { type: 'subagent_completed', data: { ...of, status, summary } }
    : { type: 'subagent_error', data: { ...of, status, summary } };
}

/** Reports that the turn has not read: their texts are read by a later one. */
function endReports({ reports }: OpenTurn): readonly TurnDraft[] {
  return Object.entries(reports).map(([childId, report]) => reportDraft(childId, report, ''));
}

const subagentFields = (childId: string, name: string) => ({ agent_id: childId, name });

/** Waits for people: confirmations, questions, and the pause of a subagent that has no rounds left. */
const WAIT_HANDLERS: TurnHandlers = {
  'wait.opened': (turn, { data }, of) => {
    const { waitId: id, kind, name, callId, summary } = data;
    const next = { ...turn, waits: { ...turn.waits, [id]: callId ?? null } };
    if (isPause(data, of))
      return [next, [{ type: 'subagent_paused', data: { ...checkpoint(turn, of, summary), wait_id: id } }]];
    const about = {
      request_id: id,
      kind,
      tool: name,
      ...(callId === undefined ? {} : { tool_call_id: callId }),
    };
    return [
      next,
      [{ type: 'confirm_required', data: { id, question: summary, context: about }, ...agentOf(data) }],
    ];
  },
  'wait.answered': (turn, { data }, of) => closeWait(turn, data, { of, approved: data.approved ?? true }),
  'wait.closed': (turn, { data }, of) =>
    closeWait(turn, data, { of, approved: data.approved ?? data.reason === 'spoken to' }),
};

/** True if this turn's subagent itself is paused. Any other pause is emitted as a confirmation, like all waits. */
function isPause({ kind, threadId }: NamedWait, { subagent }: TurnAgent): boolean {
  return subagent && kind === 'paused' && threadId === undefined;
}

/** A wait of a descendant has the descendant's `agent_id`. */
function agentOf({ threadId }: NamedWait): { readonly agentId?: string } {
  return threadId === undefined ? {} : { agentId: threadId };
}

function closeWait(
  turn: OpenTurn,
  data: EventData['wait.answered' | 'wait.closed'],
  { of, approved }: { readonly of: TurnAgent; readonly approved: boolean },
): TurnTransition {
  const { waitId: id } = data;
  const { [id]: callId, ...waits } = turn.waits;
  const call = callId == null ? undefined : turn.calls[callId];
  const calls =
    call && callId != null && !approved
      ? { ...turn.calls, [callId]: { ...call, declined: true } as const }
      : turn.calls;
  const next = { ...turn, waits, calls };
  // The end of a pause is shown by the next `round_start`.
  if (isPause(data, of)) return [next, []];
  return [next, [{ type: 'confirm_response', data: { id, approved }, ...agentOf(data) }]];
}

const HANDLERS: TurnHandlers = {
  ...ROUND_HANDLERS,
  ...CALL_HANDLERS,
  ...WAIT_HANDLERS,
  ...SUBAGENT_HANDLERS,
  ...END_HANDLERS,
};
