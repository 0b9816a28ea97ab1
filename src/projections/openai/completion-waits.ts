/** Describes waits for people as text, because a completion has no field for them. */
import type { EventData, NamedWait } from '../../core/event/event-data.ts';
import type { WaitKind } from '../../core/wait/wait.ts';
import type { OpenCompletion } from './completion-state.ts';

const REQUEST_TEXTS: Readonly<Record<WaitKind, (name: string) => string>> = {
  approval: (name) => `approval of ${name}`,
  question: (name) => `an answer to ${name}`,
  variables: (name) => `variables of ${name}`,
  paused: (name) => `permission to continue for ${name}`,
  reconcile: (name) => `the outcome of ${name}`,
};

export function openWait(open: OpenCompletion, wait: EventData['wait.opened']): OpenCompletion {
  const { waitId, kind, name, summary } = wait;
  const asked = `${REQUEST_TEXTS[kind](name)}: ${summary} (wait ${waitId})`;
  return { ...open, waits: { ...open.waits, [waitId]: asked } };
}

export function closeWait(open: OpenCompletion, { waitId }: NamedWait): OpenCompletion {
  const { [waitId]: _, ...waits } = open.waits;
  return { ...open, waits };
}
