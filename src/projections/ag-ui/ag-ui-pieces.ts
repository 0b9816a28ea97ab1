/**
 * What an answer streams besides its text: reasoning, and the arguments of its calls.
 * - Reasoning is a message of its own until text or arguments follow. No snapshot has such messages, so those of a
 *   discarded request stay.
 * - Streamed arguments end as a call only if the call is made with exactly these (ag-ui-calls.ts). Others are ended,
 *   since no run may end with an open call, and removed by a snapshot in the same row.
 * - Calls of the client's own tools are not streamed: the client runs what has ended, and all of them come together.
 */
import type { EventData } from '../../core/event/event-data.ts';
import { parseClientToolName } from '../../core/project/client-tool.ts';
import type { AgUiEvent } from './ag-ui-event.ts';
import type { AgUiTransition } from './ag-ui-handler.ts';
import type { OpenRun } from './ag-ui-state.ts';

export function addReasoning(run: OpenRun, request: string, delta: string): AgUiTransition {
  const { id, count } = run.reasoning;
  const messageId = id ?? `reasoning-${request}.${count + 1}`;
  const content: AgUiEvent = { type: 'REASONING_MESSAGE_CONTENT', messageId, delta };
  if (id !== null) return [run, [content]];
  return [
    { ...run, reasoning: { id: messageId, count: count + 1 } },
    [
      { type: 'REASONING_START', messageId },
      { type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning' },
      content,
    ],
  ];
}

/** Text or arguments follow. */
export function endReasoning(run: OpenRun): AgUiTransition {
  const { id: messageId, count } = run.reasoning;
  if (messageId === null) return [run, []];
  return [
    { ...run, reasoning: { id: null, count } },
    [
      { type: 'REASONING_MESSAGE_END', messageId },
      { type: 'REASONING_END', messageId },
    ],
  ];
}

export function addInput(
  run: OpenRun,
  { callId: toolCallId, name, delta }: NonNullable<EventData['model.chunk']['input']>,
  parentMessageId: string,
): AgUiTransition {
  if (parseClientToolName(name) !== undefined) return [run, []];
  const known = run.inputs[toolCallId];
  const start: AgUiEvent[] =
    known === undefined ? [{ type: 'TOOL_CALL_START', toolCallId, toolCallName: name, parentMessageId }] : [];
  const inputs = { ...run.inputs, [toolCallId]: (known ?? '') + delta };
  return [{ ...run, inputs }, [...start, { type: 'TOOL_CALL_ARGS', toolCallId, delta }]];
}

/** True if each call whose arguments were streamed is made, with these as the beginning of its own. */
export function areMade({ inputs, asked }: OpenRun): boolean {
  return Object.entries(inputs).every(([callId, text]) => asked[callId]?.given.startsWith(text));
}

/** The snapshot is the caller's. */
export function endInputs(run: OpenRun): AgUiTransition {
  const ending = Object.keys(run.inputs).map(
    (toolCallId): AgUiEvent => ({ type: 'TOOL_CALL_END', toolCallId }),
  );
  return [{ ...run, inputs: {} }, ending];
}
