/**
 * Projects the log as AgenticX's RuntimeEvents. It may begin at the start of any execution, which is a turn here.
 * T1. A turn has exactly one terminal event, its last: `final`, or an `error` with `terminal: true`.
 * T2. Nothing that happens between turns is emitted.
 */
import type { ThreadEvent } from '../../core/event/thread-event.ts';
import type { LogRow, Projection } from '../projection.ts';
import { argumentsOf, toRowMessage } from '../row-message.ts';
import type { RuntimeEvent } from './agenticx-event.ts';
import { type OpenTurn, openTurn, type TurnReading } from './agenticx-state.ts';
import { CALL_HANDLERS } from './turn-calls.ts';
import { END_HANDLERS, endTurn } from './turn-end.ts';
import type { TurnAgent, TurnDraft, TurnHandlers, TurnTransition } from './turn-handler.ts';
import { ROUND_HANDLERS } from './turn-rounds.ts';
import { SUBAGENT_HANDLERS } from './turn-subagents.ts';
import { WAIT_HANDLERS } from './turn-waits.ts';

const HANDLERS: TurnHandlers = {
  ...ROUND_HANDLERS,
  ...CALL_HANDLERS,
  ...WAIT_HANDLERS,
  ...SUBAGENT_HANDLERS,
  ...END_HANDLERS,
};

export const projectTurns: Projection<TurnReading, RuntimeEvent> = (reading, row) => {
  const { event } = row;
  const { turn } = reading;
  if (event.type === 'execution.started')
    return [{ ...reading, turn: openTurn(event.data.executionId, event.data.maxRounds) }, []];
  // T2: between turns.
  if (!turn) return [reading, []];
  if (event.type === 'execution.ended')
    return [{ ...reading, turn: null }, [addAgentId(reading, endTurn(turn, event.data))]];
  if (event.type === 'message.created') return [{ ...reading, turn: rememberMessage(turn, row) }, []];
  const [next, drafts] = handle(turn, event, reading);
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
function rememberMessage(turn: OpenTurn, { event, message }: LogRow): OpenTurn {
  if (event.type !== 'message.created') return turn;
  const said = toRowMessage(event.data.messageId, message);
  return { ...turn, said, arguments: { ...turn.arguments, ...argumentsOf(message) } };
}
