/**
 * The ids that a client gave its messages and calls. A thread stores some of them under others: ids that it gives itself,
 * ids that are too long, results of the client's tools. What the client is told has its own, because it merges messages
 * by id: under others they would lose their order. A client sends all its messages with each run, so nothing is stored.
 * - An id is given to one message: a call's id that a model uses again does not make two results one.
 */
import type { Message } from '../../../core/message/message.ts';
import { toCallId, toItemId } from '../conversation/conversation.ts';

interface SentMessage {
  readonly id: string;
  readonly role: string;
  readonly toolCallId?: string | null | undefined;
  readonly toolCalls?: readonly { readonly id: string }[] | null | undefined;
}

export interface GivenIds {
  /** Returns the client's ids of stored messages, in their order. */
  readonly ofMessages: (stored: readonly Pick<Message, 'id' | 'tool_call_id'>[]) => readonly string[];
  /** Returns the client's id of a result that the thread stores now; once, since a model may use the call's id again. */
  readonly ofResult: (id: string, callId: string) => string;
  readonly ofCall: (id: string) => string;
}

/** The id under which a message of a client is stored: always the same for the same id. */
export function toAgUiItemId(id: string): string {
  return toItemId(id, 'ag');
}

export function readGivenIds(sent: readonly SentMessage[]): GivenIds {
  const messages = new Map(sent.map(({ id }) => [toAgUiItemId(id), id]));
  const calls = new Map(
    sent.flatMap(({ toolCalls }) => (toolCalls ?? []).map(({ id }) => [toCallId(id), id])),
  );
  const results = resultsOf(sent);
  const ofCall = (id: string) => calls.get(id) ?? id;
  const ofMessage = (id: string) => messages.get(id) ?? id;
  const behindAnswer = sent.slice(sent.findLastIndex(({ role }) => role === 'assistant') + 1);
  const fresh = resultsOf(behindAnswer);
  return {
    ofCall,
    ofResult(id, callId) {
      const own = fresh.get(callId);
      fresh.delete(callId);
      return own ?? id;
    },
    ofMessages(stored) {
      // A message that is stored under an id of the client's keeps it.
      const taken = new Set(stored.flatMap(({ id }) => messages.get(id) ?? []));
      return stored.map(({ id, tool_call_id: callId }) => {
        if (callId === null || messages.has(id)) return ofMessage(id);
        const own = results.get(ofCall(callId)) ?? id;
        if (taken.has(own)) return id;
        taken.add(own);
        return own;
      });
    },
  };
}

/** The client's ids of results, by call. The first result of a call counts. */
function resultsOf(sent: readonly SentMessage[]): Map<string, string> {
  return new Map(
    sent
      .toReversed()
      .flatMap(({ id, role, toolCallId }) => (role === 'tool' && toolCallId ? [[toolCallId, id]] : [])),
  );
}
