/** Transient notes, which are not part of the message: about subagents, files, effects and budgets. */
import type { EventKind, ThreadEvent } from '../../core/event/thread-event.ts';
import type { UiChunk } from './ui-chunk.ts';

const NOTES: { readonly [Kind in EventKind]?: string } = {
  'subagent.created': 'subagent',
  'subagent.status': 'subagent',
  'subagent.returned': 'subagent',
  'subagent.failed': 'subagent',
  'file.created': 'file',
  'file.updated': 'file',
  'file.deleted': 'file',
  'effect.scheduled': 'effect',
  'effect.done': 'effect',
  'effect.failed': 'effect',
  'budget.warning': 'budget',
  'budget.exceeded': 'budget',
};

export function noteOf({ type, data }: ThreadEvent): readonly UiChunk[] {
  const name = NOTES[type];
  if (name === undefined) return [];
  return [{ type: `data-everthread-${name}`, data: { event: type, ...(data as object) }, transient: true }];
}
