/** What reads a row of one kind: what is known of the turn behind it, and what the row tells. */
import type { EventKind, ThreadEventOf } from '../../core/event/thread-event.ts';
import type { RuntimeEventData, RuntimeEventType } from './agenticx-event.ts';
import type { OpenTurn } from './agenticx-state.ts';

/** An event; `agentId` where it is another's than the turn's. */
export type TurnDraft = {
  readonly [Type in RuntimeEventType]: {
    readonly type: Type;
    readonly data: RuntimeEventData[Type];
    readonly agentId?: string;
  };
}[RuntimeEventType];

export type TurnTold = readonly [OpenTurn, readonly TurnDraft[]];

/** Whose turn it is. */
export interface TurnOf {
  readonly agentId: string;
  readonly subagent: boolean;
}

/** By kind; a kind without one tells nothing. */
export type TurnHandlers = {
  readonly [Kind in EventKind]?: (turn: OpenTurn, event: ThreadEventOf<Kind>, of: TurnOf) => TurnTold;
};
