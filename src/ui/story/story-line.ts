/** Sentences of a thread's story (`as=story`), which say why something happened, among the items of its log. */
import type { LogItem } from './log.ts';

export interface StoryRow {
  readonly seq: number;
  readonly at: number;
  readonly step?: number;
  readonly line: string;
  readonly kind: string;
  /** Kind of the row of the log. */
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface NoteItem {
  readonly kind: 'note';
  readonly key: string;
  readonly seq: number;
  readonly at: number;
  readonly depth: number;
  readonly line: string;
  /** A text that it is about, folded. */
  readonly more: string | null;
  readonly tone: 'plain' | 'warning' | 'failure';
}

export type Item = LogItem | NoteItem;

/** What the items of the log show already. */
const SHOWN_OTHERWISE = new Set(['message', 'text', 'step', 'tool', 'subagent']);
const SHOWN_BY_ITEMS = new Set(['thread.created', 'execution.started']);
const FAILURES = new Set(['error', 'lost']);
const PLAIN = new Set(['wait', 'status']);

export function toNote({ seq, at, line, kind, type, data }: StoryRow): NoteItem | null {
  if (SHOWN_OTHERWISE.has(kind) || SHOWN_BY_ITEMS.has(type)) return null;
  // Its call says that it waits, and the dock for what.
  if (type === 'wait.opened' && data.callId !== undefined) return null;
  const tone = FAILURES.has(kind) ? 'failure' : PLAIN.has(kind) ? 'plain' : 'warning';
  const more = type === 'context.compacted' ? String(data.summary ?? '') : null;
  return { kind: 'note', key: `note ${seq} ${line}`, seq, at, depth: 0, line, more, tone };
}

/** Merges two lists that are each in the order of the log. */
export function mergeNotes(items: readonly LogItem[], notes: readonly NoteItem[], from: number): Item[] {
  const merged: Item[] = [];
  let next = notes.findIndex(({ seq }) => seq >= from);
  if (next < 0) return [...items];
  for (const item of items) {
    while (next < notes.length && (notes[next] as NoteItem).seq < item.seq) {
      merged.push(notes[next] as NoteItem);
      next += 1;
    }
    merged.push(item);
  }
  return [...merged, ...notes.slice(next)];
}
