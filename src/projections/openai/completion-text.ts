/**
 * The emitted text of an answer. What a reader has of a step is the beginning of the committed text, or a chunk names
 * the part that is void.
 * T1. A repeated request is assumed to repeat its text, so only text that is longer or different is emitted.
 * T2. Emitted text is never withdrawn: its replacement is a separate paragraph, and the chunk names what it replaces.
 * T3. Texts of several steps are paragraphs of one answer.
 */
import type { ThreadEventOf } from '../../core/event/thread-event.ts';
import type { OpenCompletion } from './completion-state.ts';

/** Text to emit; `discarded`: text that was emitted before and is void. */
export interface TextPiece {
  readonly text: string;
  readonly discarded?: string;
}

export type TextTransition = readonly [OpenCompletion, readonly TextPiece[]];

const PARAGRAPH = '\n\n';

export function handleChunk(open: OpenCompletion, event: ThreadEventOf<'model.chunk'>): TextTransition {
  const { delta, call, depth } = event.data;
  // Text of a sub-prompt is no answer to the user.
  if (depth !== undefined || delta === '') return [open, []];
  const id = `${event.step ?? 0}.${event.attempt ?? 0}.${call}`;
  const text = (open.attempt?.id === id ? open.attempt.text : '') + delta;
  const next = { ...open, attempt: { id, text } };
  // T1: nothing until the text is longer or different.
  return open.told.startsWith(text) ? [next, []] : emitText(next, text);
}

/** Emits what the committed text of a step adds or replaces, and closes the step. */
export function commitText(open: OpenCompletion, content: string): TextTransition {
  const [next, chunks] = emitText(open, content);
  return [{ ...next, told: '', attempt: null }, chunks];
}

function emitText(open: OpenCompletion, text: string): TextTransition {
  const { told, begun } = open;
  if (text === told) return [open, []];
  const next = { ...open, told: text, begun: true };
  if (told === '') return [next, [{ text: (begun ? PARAGRAPH : '') + text }]];
  if (text.startsWith(told)) return [next, [{ text: text.slice(told.length) }]];
  // T2: the replacement.
  return [next, [{ text: text === '' ? '' : PARAGRAPH + text, discarded: told }]];
}

/** T3: separates a text from earlier text. */
export function paragraph(open: OpenCompletion, text: string): string {
  return (open.begun ? PARAGRAPH : '') + text;
}
