/** The lines of a chat turn: an execution's events in the envelope of a session's run. What is within it goes through as it is. */
import type { TangleEvent } from './tangle-event.ts';

export interface ChatTurnIdentity {
  readonly tenantId: string;
  /** The thread. */
  readonly sessionId: string;
  readonly userId: string;
  /** From 0. */
  readonly turnIndex: number;
}

export interface ChatTurnLine {
  readonly type: string;
  readonly data?: object;
}

/** The line of one event. */
export function toTurnLine(identity: ChatTurnIdentity, event: TangleEvent): ChatTurnLine {
  const { tenantId, sessionId, turnIndex } = identity;
  switch (event.type) {
    case 'execution.started':
      return { type: 'session.run.started', data: { sessionId, tenantId, turnIndex } };
    case 'execution.waiting':
      return { type: 'session.run.waiting', data: { sessionId, waitIds: event.data.waitIds } };
    case 'execution.completed':
      return { type: 'session.run.completed', data: { sessionId } };
    case 'execution.failed':
      return { type: 'session.run.failed', data: { sessionId, message: event.data.message } };
    default:
      return { type: event.type, data: event.data };
  }
}
