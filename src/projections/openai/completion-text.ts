/**
 * The text of an answer as it is told: what readers have of a step is the beginning of what it commits, or they are told what of it does not
 * count.
 * T1. A model that is asked again is taken for saying the same again: nothing is told until it says more than was told, or something else.
 * T2. What cannot be taken back stands; behind it the text begins anew, in a paragraph of its own, and the chunk names what it replaces.
 * T3. Texts of several steps are paragraphs of one answer.
 */
import type { ThreadEventOf } from '../../core/event/thread-event.ts';
import type { OpenCompletion } from './completion-state.ts';

/** Text that is told now, and what was told before and does not count. */
export interface Piece {
  readonly text: string;
  readonly discarded?: string;
}

export type TextTold = readonly [OpenCompletion, readonly Piece[]];

const PARAGRAPH = '\n\n';

export function hearChunk(open: OpenCompletion, event: ThreadEventOf<'model.chunk'>): TextTold {
  const { delta, call, depth } = event.data;
  // Of sub-prompts nothing is an answer to the user.
  if (depth !== undefined || delta === '') return [open, []];
  const id = `${event.step ?? 0}.${event.attempt ?? 0}.${call}`;
  const text = (open.attempt?.id === id ? open.attempt.text : '') + delta;
  const next = { ...open, attempt: { id, text } };
  // T1: not before it says more.
  return open.told.startsWith(text) ? [next, []] : tell(next, text);
}

/** The step's text, for good. */
export function settle(open: OpenCompletion, content: string): TextTold {
  const [next, told] = tell(open, content);
  return [{ ...next, told: '', attempt: null }, told];
}

function tell(open: OpenCompletion, text: string): TextTold {
  const { told, begun } = open;
  if (text === told) return [open, []];
  const next = { ...open, told: text, begun: true };
  if (told === '') return [next, [{ text: (begun ? PARAGRAPH : '') + text }]];
  if (text.startsWith(told)) return [next, [{ text: text.slice(told.length) }]];
  // T2: it begins anew.
  return [next, [{ text: text === '' ? '' : PARAGRAPH + text, discarded: told }]];
}

/** T3: behind other text. */
export function paragraph(open: OpenCompletion, text: string): string {
  return (open.begun ? PARAGRAPH : '') + text;
}
