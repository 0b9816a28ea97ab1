/**
 * Steps and their text. A text part that is kept has exactly the committed text: what a reader has missed is added
 * before the part ends, and a part with other text is withdrawn.
 */
import type { EventData } from '../../core/event/event-data.ts';
import type { ThreadEvent } from '../../core/event/thread-event.ts';
import type { ChatHandlers, ChatTransition } from './chat-handler.ts';
import { addInput, addReasoning, endInputs, endReasoning, partStart } from './chat-pieces.ts';
import { NOTHING_STREAMED, type OpenResponse, type OpenText } from './chat-state.ts';
import type { UiChunk, UiDialect } from './ui-chunk.ts';

export const TEXT_HANDLERS: ChatHandlers = {
  'step.started': (response, { data: { depth } }) => {
    if (depth !== undefined) return [response, []];
    const [closed, ending] = closeStep(response);
    return [{ ...closed, stepOpen: true }, [...ending, { type: 'start-step' }]];
  },
  'model.chunk': (response, event, dialect) => {
    const { delta, call, reasoning, input, depth } = event.data;
    // Text of a sub-prompt is no answer to the user.
    if (depth !== undefined || !(delta || reasoning || input)) return [response, []];
    const id = partId(event, call);
    const isNew = response.request !== id;
    const [begun, before] = isNew ? withdrawAnswer(response, dialect) : [response, []];
    const [next, chunks] = addPiece({ ...begun, request: id }, id, event.data);
    return [next, [...before, ...chunks]];
  },
  'attempt.discarded': (response, { data: { depth } }, dialect) =>
    depth === undefined ? withdrawAnswer(response, dialect) : [response, []],
  'step.committed': (response, event, dialect) => {
    const { messageId, depth, finishReason } = event.data;
    if (depth !== undefined) return [response, []];
    const content = (response.said?.id === messageId ? response.said.content : null) ?? '';
    const [thought, thoughts] = endReasoning(response);
    const text = commitText(response.text, content, { id: partId(event, 0), dialect });
    const [next, errors] = endInputs(thought, (callId) => callId in response.arguments);
    // Dialect 7 has dropped all parts of the step.
    const isReset = text.some(({ type }) => type === 'reset-step');
    const kept = isReset ? { ...next, inputs: {} } : next;
    const filtered = finishReason === 'content_filter';
    return [{ ...kept, ...NOTHING_STREAMED, filtered }, [...thoughts, ...text, ...(isReset ? [] : errors)]];
  },
  'execution.aborted': (response, event, dialect) => {
    const { depth, keptText } = event.data;
    if (depth !== undefined) return [response, []];
    const [closed, ending] = keptText ? keepText(response, event, dialect) : closeText(response);
    const [next, errors] = endInputs(closed);
    return [next, [...ending, ...errors]];
  },
};

function addPiece(
  response: OpenResponse,
  id: string,
  { delta, reasoning, input }: EventData['model.chunk'],
): ChatTransition {
  if (reasoning) return addReasoning(response, id, reasoning);
  const [next, ending] = endReasoning(response);
  if (input) {
    const [added, chunks] = addInput(next, input);
    return [added, [...ending, ...chunks]];
  }
  const start = next.text ? [] : [partStart('text-start', id)];
  const text = { id, text: (next.text?.text ?? '') + delta };
  return [{ ...next, text }, [...ending, ...start, { type: 'text-delta', id, delta }]];
}

function partId({ step, attempt }: ThreadEvent, call: number): string {
  return `${step ?? 0}.${attempt ?? 0}.${call}`;
}

/** Emits the missing rest of the text, or all of it if the committed text differs from the streamed one. */
function commitText(
  open: OpenText | null,
  content: string,
  { id, dialect }: { readonly id: string; readonly dialect: UiDialect },
): readonly UiChunk[] {
  if (open && content.startsWith(open.text) && content !== '') {
    const rest = content.slice(open.text.length);
    const missing: UiChunk[] = rest === '' ? [] : [{ type: 'text-delta', id: open.id, delta: rest }];
    return [...missing, { type: 'text-end', id: open.id }];
  }
  const whole: UiChunk[] =
    content === ''
      ? []
      : [partStart('text-start', id), { type: 'text-delta', id, delta: content }, { type: 'text-end', id }];
  return [...withdrawText(open, dialect), ...whole];
}

/**
 * Withdraws the streamed text. Dialect 7 drops the step's parts itself. For the others the part ends, and a note names
 * it so that pages can hide it.
 */
function withdrawText(open: OpenText | null, dialect: UiDialect): readonly UiChunk[] {
  if (!open) return [];
  if (dialect === 7) return [{ type: 'reset-step' }];
  return [
    { type: 'text-end', id: open.id },
    { type: 'data-attempt', data: { discarded: [open.id] }, transient: true },
  ];
}

/** Withdraws all that a request has streamed; calls that it made are not among that. */
function withdrawAnswer(response: OpenResponse, dialect: UiDialect): ChatTransition {
  const { text, reasoning } = response;
  const nothing = { ...response, ...NOTHING_STREAMED };
  const lost = Object.keys(response.inputs).filter((callId) => !(callId in response.calls));
  if (!text && reasoning.ids.length === 0 && lost.length === 0) return [nothing, []];
  const [ended, errors] = endInputs(nothing, (callId) => callId in response.calls);
  if (dialect === 7) return [ended, [{ type: 'reset-step' }]];
  const [, thoughts] = endReasoning(response);
  // The next attempt may use ids of calls again, so none is named.
  const discarded = [...(text ? [text.id] : []), ...reasoning.ids];
  const ending: UiChunk[] = text ? [{ type: 'text-end', id: text.id }] : [];
  const note: UiChunk[] =
    discarded.length > 0 ? [{ type: 'data-attempt', data: { discarded }, transient: true }] : [];
  return [ended, [...thoughts, ...ending, ...errors, ...note]];
}

/** The text that a stopped step had streamed is stored as a message, which was the last one. */
function keepText(response: OpenResponse, event: ThreadEvent, dialect: UiDialect): ChatTransition {
  const [thought, thoughts] = endReasoning(response);
  const id = partId(event, 0);
  const text = commitText(response.text, response.said?.content ?? '', { id, dialect });
  return [{ ...thought, ...NOTHING_STREAMED }, [...thoughts, ...text]];
}

export function closeText(response: OpenResponse): ChatTransition {
  const [, thoughts] = endReasoning(response);
  const { text } = response;
  const ending: UiChunk[] = text ? [{ type: 'text-end', id: text.id }] : [];
  return [{ ...response, ...NOTHING_STREAMED }, [...thoughts, ...ending]];
}

export function closeStep(response: OpenResponse): ChatTransition {
  const [closed, ending] = closeText(response);
  if (!closed.stepOpen) return [closed, ending];
  return [{ ...closed, stepOpen: false }, [...ending, { type: 'finish-step' }]];
}
