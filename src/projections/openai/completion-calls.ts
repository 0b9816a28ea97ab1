/**
 * Calls of tools that the client runs itself. All that have no result are emitted at the end of a completion, and the
 * client's next request has their results.
 */
import type { EventData, NamedWait } from '../../core/event/event-data.ts';
import type { Message } from '../../core/message/message.ts';
import { type ClientCallPlace, clientCallId } from '../../core/project/client-call-id.ts';
import { parseClientToolName } from '../../core/project/client-tool.ts';
import { callsOf as callsWritten } from '../row-message.ts';
import type { CompletionCall } from './completion-chunk.ts';
import type { OpenCompletion } from './completion-state.ts';

/** Adds the client's calls of an answer. */
export function withCalls(
  open: OpenCompletion,
  message: Message | null | undefined,
  place: Omit<ClientCallPlace, 'callId'>,
): OpenCompletion {
  if (message?.role !== 'assistant') return open;
  const called = callsWritten(message).flatMap(({ id: callId, function: { name, arguments: given } }) => {
    const ofClient = parseClientToolName(name);
    if (ofClient === undefined) return [];
    const call = { name: ofClient, arguments: given };
    return [[callId, { id: clientCallId({ ...place, callId }), function: call }] as const];
  });
  return called.length > 0 ? { ...open, calls: { ...open.calls, ...Object.fromEntries(called) } } : open;
}

export function withoutCall(open: OpenCompletion, callId: string): OpenCompletion {
  if (!(callId in open.calls)) return open;
  const { [callId]: _, ...calls } = open.calls;
  return { ...open, calls };
}

/** Undefined if the wait is not for the client. People, not the client, approve calls of its tools. */
export function openClientWait(
  open: OpenCompletion,
  { waitId, kind, name, callId }: EventData['wait.opened'],
): OpenCompletion | undefined {
  if (kind !== 'question' || parseClientToolName(name) === undefined) return undefined;
  if (callId === undefined || !(callId in open.calls)) return undefined;
  return { ...open, clientWaits: { ...open.clientWaits, [waitId]: callId } };
}

export function closeClientWait(open: OpenCompletion, { waitId }: NamedWait): OpenCompletion {
  const { [waitId]: closed, ...clientWaits } = open.clientWaits;
  return closed === undefined ? open : { ...open, clientWaits };
}

/** Returns the calls that the client must run; none if the client is not waited for. */
export function callsOf({ calls, clientWaits }: OpenCompletion): readonly CompletionCall[] {
  if (Object.keys(clientWaits).length === 0) return [];
  return Object.values(calls).map((call, index) => ({ index, type: 'function', ...call }));
}
