/**
 * What an answer streams besides its text: reasoning, and the arguments of its calls.
 * - Reasoning is a part of its own until text or arguments follow.
 * - Streamed arguments never end as a call: a call that is made is emitted whole, with what it was called with, and
 *   replaces them (chat-calls.ts). All others end as an error, and so do those of calls that are not made yet when
 *   the response ends; a later response replaces these.
 */
import type { EventData } from '../../core/event/event-data.ts';
import type { ChatTransition } from './chat-handler.ts';
import type { OpenInput, OpenResponse } from './chat-state.ts';
import type { UiChunk } from './ui-chunk.ts';

export function addReasoning(response: OpenResponse, request: string, delta: string): ChatTransition {
  const { ids, open } = response.reasoning;
  const known = open ? ids.at(-1) : undefined;
  const id = known ?? `${request}.r${ids.length + 1}`;
  const start: UiChunk[] = known ? [] : [partStart('reasoning-start', id)];
  const reasoning = { ids: known ? ids : [...ids, id], open: true };
  return [{ ...response, reasoning }, [...start, { type: 'reasoning-delta', id, delta }]];
}

/** Pages do not keep the id of a part, so its metadata repeats it for the note that withdraws the part. */
export function partStart(type: 'text-start' | 'reasoning-start', id: string): UiChunk {
  return { type, id, providerMetadata: { everthread: { part: id } } };
}

/** Text or arguments follow. */
export function endReasoning(response: OpenResponse): ChatTransition {
  const { ids, open } = response.reasoning;
  const id = ids.at(-1);
  if (!open || id === undefined) return [response, []];
  return [{ ...response, reasoning: { ids, open: false } }, [{ type: 'reasoning-end', id }]];
}

export function addInput(
  response: OpenResponse,
  { callId: toolCallId, name, delta }: NonNullable<EventData['model.chunk']['input']>,
): ChatTransition {
  const known = response.inputs[toolCallId];
  const start: UiChunk[] = known
    ? []
    : [{ type: 'tool-input-start', toolCallId, toolName: name, dynamic: true }];
  const inputs = { ...response.inputs, [toolCallId]: { name, text: (known?.text ?? '') + delta } };
  return [
    { ...response, inputs },
    [...start, { type: 'tool-input-delta', toolCallId, inputTextDelta: delta }],
  ];
}

/** Ends streamed arguments whose call was not made; of all calls, or of those for which `isMade` is false. */
export function endInputs(
  response: OpenResponse,
  isMade: (callId: string) => boolean = () => false,
): ChatTransition {
  const all = Object.entries(response.inputs);
  const lost = all.filter(([callId]) => !isMade(callId));
  if (lost.length === 0) return [response, []];
  const inputs = Object.fromEntries(all.filter(([callId]) => isMade(callId)));
  return [{ ...response, inputs }, lost.map(toError)];
}

function toError([toolCallId, { name, text }]: [string, OpenInput]): UiChunk {
  return {
    type: 'tool-input-error',
    toolCallId,
    toolName: name,
    input: text,
    errorText: 'The call has not been made.',
    dynamic: true,
  } as const;
}

export function withoutInput(response: OpenResponse, callId: string): OpenResponse {
  const { [callId]: known, ...inputs } = response.inputs;
  return known ? { ...response, inputs } : response;
}
