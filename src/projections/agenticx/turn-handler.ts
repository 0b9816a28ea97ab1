/** Handlers of log rows by kind: each returns the new state of the turn and the events that the row emits. */
import type { EventKind, ThreadEventOf } from '../../core/event/thread-event.ts';
import type { RuntimeEventData, RuntimeEventType } from './agenticx-event.ts';
import type { OpenTurn } from './agenticx-state.ts';

/** An event without `agent_id`. `agentId` is set if its agent is not the turn's. */
export type TurnDraft = {
  readonly [Type in RuntimeEventType]: {
    readonly type: Type;
    readonly data: RuntimeEventData[Type];
    readonly agentId?: string;
  };
}[RuntimeEventType];

export type TurnTransition = readonly [OpenTurn, readonly TurnDraft[]];

/** The agent of the turn. */
export interface TurnAgent {
  readonly agentId: string;
  readonly subagent: boolean;
}

/** Rows of a kind without a handler emit nothing. */
export type TurnHandlers = {
  readonly [Kind in EventKind]?: (
    turn: OpenTurn,
    event: ThreadEventOf<Kind>,
    of: TurnAgent,
  ) => TurnTransition;
};
