/** Lines of a chat turn: an execution's events, unchanged but for the first and last, which become `session.run.*`. */
import type { TangleEvent } from './tangle-event.ts';

export interface ChatTurnIdentity {
  readonly tenantId: string;
  /** Id of the thread. */
  readonly sessionId: string;
  readonly userId: string;
  /** From 0. */
  readonly turnIndex: number;
}

export interface ChatTurnLine {
  readonly type: string;
  readonly data?: object;
}

/** Converts an event to its line. */
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
