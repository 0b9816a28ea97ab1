/** Converts `state.context` for the store: to JSON, or to an error (`ContextNotSerializable`). */
import { errorMessage } from '../core/value/error.ts';
import { toJsonText } from '../core/value/json-value.ts';
import { LIMITS } from '../core/value/limit.ts';
import type { Flow } from './running-execution.ts';
import type { ThreadEnv } from './thread-env.ts';

export type WrittenScratch =
  /** `text` is absent if the scratch has not changed since the work began. */
  { readonly ok: true; readonly text?: string } | { readonly ok: false; readonly error: string };

export interface Scratch {
  readonly flow: Flow;
  /** JSON of the scratch when it was opened. */
  readonly before: string;
  /** Adds a function that removes secrets, which the code has read, from what is written. */
  redactWith(redactKnown: ThreadEnv['redactKnown']): void;
  write(): WrittenScratch;
}

export function openScratch(stored: Readonly<Record<string, unknown>>): Scratch {
  const before = JSON.stringify(stored);
  const flow: Flow = { directive: undefined, scratch: JSON.parse(before) as Record<string, unknown> };
  const redactions: ThreadEnv['redactKnown'][] = [];
  return {
    flow,
    before,
    redactWith: (redactKnown) => void redactions.push(redactKnown),
    write() {
      try {
        const hidden = redactions.reduce((value, redactKnown) => redactKnown(value), flow.scratch);
        const text = toJsonText(hidden, { name: 'state.context', maxBytes: LIMITS.scratchBytes });
        return text === before ? { ok: true } : { ok: true, text };
      } catch (error) {
        return {
          ok: false,
          error: `ContextNotSerializable: ${errorMessage(error)} The previous value is kept.`,
        };
      }
    },
  };
}
