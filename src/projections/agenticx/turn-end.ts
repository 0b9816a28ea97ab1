/** The end of a turn, and what is remembered for it. */
import type { EventData } from '../../core/event/event-data.ts';
import type { OpenTurn } from './agenticx-state.ts';
import type { TurnDraft, TurnHandlers } from './turn-handler.ts';

export const END_HANDLERS: TurnHandlers = {
  'loop.critical': (turn, { data: { detector } }) => [{ ...turn, detector }, []],
};

/** If the turn ended idle, its answer, empty if there is none; else a terminal error. */
export function endTurn(turn: OpenTurn, end: EventData['execution.ended']): TurnDraft {
  const { status = 'idle', reason, error, cancelReason } = end;
  if (status === 'idle') return { type: 'final', data: { text: turn.answer } };
  const text = error?.message ?? cancelReason ?? reason;
  const detector = turn.detector === null ? {} : { detector: turn.detector };
  return { type: 'error', data: { text, terminal: true, ...detector } };
}
