/** Calls of tools, each emitted when its turn comes: its input, the approval that it needs, its outcome. */
import type { EventData } from '../../core/event/event-data.ts';
import type { ChatHandlers, ChatTransition } from './chat-handler.ts';
import { endInputs, withoutInput } from './chat-pieces.ts';
import type { OpenResponse } from './chat-state.ts';
import type { UiChunk, UiDialect } from './ui-chunk.ts';

export const CALL_HANDLERS: ChatHandlers = {
  'tool.called': (response, { data: { name, callId, depth } }) => {
    if (depth !== undefined) return [response, []];
    const { [callId]: given = '{}', ...left } = response.arguments;
    const calls = { ...response.calls, [callId]: { name, given, told: false } };
    return [{ ...response, arguments: left, calls }, []];
  },
  'tool.started': (response, { data: { callId } }) => emitCall(response, callId),
  'tool.result': (response, { data: { callId, status } }, dialect) =>
    finishCall(response, callId, { failed: status === 'error', dialect }),
  'tool.unknown': (response, { data: { callId } }, dialect) =>
    finishCall(response, callId, { failed: true, dialect }),
  'tool.removed': (response, { data: { callId } }, dialect) =>
    response.calls[callId]?.told
      ? finishCall({ ...response, said: null }, callId, { failed: true, dialect })
      : endInputs(removeCall(response, callId), (id) => id !== callId),
  'wait.opened': (response, { data }, dialect) => {
    const { waitId: id, kind, callId, threadId } = data;
    const [next, chunks] = callId === undefined ? [response, []] : emitCall(response, callId);
    const open = { ...next, waits: { ...next.waits, [id]: callId ?? null } };
    const own = kind === 'approval' && threadId === undefined && callId !== undefined && next.calls[callId];
    // Dialect 5 has no approvals; a wait for no call of this message has no part that could be approved.
    if (!own || dialect === 5) return [open, [...chunks, waitPart(data, 'open')]];
    return [open, [...chunks, { type: 'tool-approval-request', approvalId: id, toolCallId: callId }]];
  },
  'wait.answered': (response, { data }, dialect) =>
    closeWait(response, data, { approved: data.approved ?? true, dialect }),
  'wait.closed': (response, { data }, dialect) =>
    closeWait(response, data, { approved: data.approved ?? false, dialect }),
};

/** Emits a call, once; also one that has no tool body, such as a call of a subagent. */
export function emitCall(response: OpenResponse, callId: string): ChatTransition {
  const call = response.calls[callId];
  if (!call || call.told) return [response, []];
  const calls = { ...response.calls, [callId]: { ...call, told: true } };
  const input = readInput(call.given);
  return [
    { ...withoutInput(response, callId), calls },
    [{ type: 'tool-input-available', toolCallId: callId, toolName: call.name, input, dynamic: true }],
  ];
}

function finishCall(
  response: OpenResponse,
  callId: string,
  { failed, dialect }: { readonly failed: boolean; readonly dialect: UiDialect },
): ChatTransition {
  const call = response.calls[callId];
  if (!call) return [response, []];
  const [next, chunks] = emitCall(response, callId);
  const text = response.said?.content ?? '';
  return [removeCall(next, callId), [...chunks, outcome()]];

  function outcome(): UiChunk {
    if (!failed) return { type: 'tool-output-available', toolCallId: callId, output: text, dynamic: true };
    if (call?.declined && dialect !== 5) return { type: 'tool-output-denied', toolCallId: callId };
    return {
      type: 'tool-output-error',
      toolCallId: callId,
      errorText: text || 'The call was removed.',
      dynamic: true,
    };
  }
}

function closeWait(
  response: OpenResponse,
  data: EventData['wait.answered' | 'wait.closed'],
  { approved, dialect }: { readonly approved: boolean; readonly dialect: UiDialect },
): ChatTransition {
  const { waitId: id, kind, threadId } = data;
  const { [id]: callId = null, ...waits } = response.waits;
  const call = callId === null ? undefined : response.calls[callId];
  const own = kind === 'approval' && threadId === undefined && call !== undefined;
  const calls =
    own && callId !== null && !approved
      ? { ...response.calls, [callId]: { ...call, declined: true } as const }
      : response.calls;
  // The outcome of an approval is shown by the outcome of its call.
  return [{ ...response, waits, calls }, own && dialect !== 5 ? [] : [waitPart(data, 'over')]];
}

function waitPart(
  {
    waitId: id,
    kind,
    name,
    callId,
    threadId,
    ...more
  }: EventData['wait.opened' | 'wait.answered' | 'wait.closed'],
  state: 'open' | 'over',
): UiChunk {
  const about = { waitId: id, kind, name, callId, threadId, state };
  const data = 'summary' in more ? { ...about, summary: more.summary, expiresAt: more.expiresAt } : about;
  return { type: 'data-everthread-wait', id, data };
}

function removeCall(response: OpenResponse, callId: string): OpenResponse {
  const { [callId]: _, ...calls } = response.calls;
  return { ...response, calls };
}

/** Returns the parsed input, or the text itself if it is not JSON. */
export function readInput(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
