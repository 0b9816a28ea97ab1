/** Waits for people: confirmations, questions, and the pause of a subagent that has no rounds left. */
import type { EventData, NamedWait } from '../../core/event/event-data.ts';
import type { OpenTurn } from './agenticx-state.ts';
import type { TurnAgent, TurnHandlers, TurnTransition } from './turn-handler.ts';
import { checkpoint } from './turn-rounds.ts';

export const WAIT_HANDLERS: TurnHandlers = {
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
