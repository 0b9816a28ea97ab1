/**
 * Steps and their text. A text part that is kept has exactly the committed text: what a reader has missed is added
 * before the part ends, and a part with other text is withdrawn.
 */
import type { ThreadEvent } from '../../core/event/thread-event.ts';
import type { ChatHandlers, ChatTransition } from './chat-handler.ts';
import type { OpenResponse, OpenText } from './chat-state.ts';
import type { UiChunk, UiDialect } from './ui-chunk.ts';

export const TEXT_HANDLERS: ChatHandlers = {
  'step.started': (response, { data: { depth } }) => {
    if (depth !== undefined) return [response, []];
    const [closed, ending] = closeStep(response);
    return [{ ...closed, stepOpen: true }, [...ending, { type: 'start-step' }]];
  },
  'model.chunk': (response, event, dialect) => {
    const { delta, call, depth } = event.data;
    // Text of a sub-prompt is no answer to the user.
    if (depth !== undefined || delta === '') return [response, []];
    const id = partId(event, call);
    const open = response.text?.id === id ? response.text : null;
    const chunks: UiChunk[] = open ? [] : [...withdrawText(response.text, dialect), textStart(id)];
    const text = { id, text: (open?.text ?? '') + delta };
    return [{ ...response, text }, [...chunks, { type: 'text-delta', id, delta }]];
  },
  'attempt.discarded': (response, { data: { depth } }, dialect) =>
    depth === undefined
      ? [{ ...response, text: null }, withdrawText(response.text, dialect)]
      : [response, []],
  'step.committed': (response, event, dialect) => {
    const { messageId, depth } = event.data;
    if (depth !== undefined) return [response, []];
    const content = (response.said?.id === messageId ? response.said.content : null) ?? '';
    return [
      { ...response, text: null },
      commitText(response.text, content, { id: partId(event, 0), dialect }),
    ];
  },
  'execution.aborted': (response, { data: { depth } }) =>
    depth === undefined ? closeText(response) : [response, []],
};

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
      : [textStart(id), { type: 'text-delta', id, delta: content }, { type: 'text-end', id }];
  return [...withdrawText(open, dialect), ...whole];
}

/** Pages do not keep the id of a part, so its metadata repeats it for the note that withdraws the part. */
function textStart(id: string): UiChunk {
  return { type: 'text-start', id, providerMetadata: { everthread: { part: id } } };
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

export function closeText(response: OpenResponse): ChatTransition {
  if (!response.text) return [response, []];
  return [{ ...response, text: null }, [{ type: 'text-end', id: response.text.id }]];
}

export function closeStep(response: OpenResponse): ChatTransition {
  const [closed, ending] = closeText(response);
  if (!closed.stepOpen) return [closed, ending];
  return [{ ...closed, stepOpen: false }, [...ending, { type: 'finish-step' }]];
}
