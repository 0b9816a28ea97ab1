/** Logs that something of author code was not kept as it was. The code has done its work: this changes no outcome. */
import { LIMITS } from '../../core/value/limit.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { ThreadEnv } from '../state/thread-env.ts';
import type { AuthorCode } from './author-run.ts';

export interface NotePlace {
  readonly store: { readonly events: Pick<ThreadStore['events'], 'append'> };
  readonly env: Pick<ThreadEnv, 'redact'>;
  readonly threadId: string;
  readonly code: AuthorCode;
  readonly name: string | null;
  readonly step?: number;
}

/** Returns a function that logs a text without secrets. It never throws: a log that cannot be written costs no result. */
export function createNotes({ store, env, threadId, code, name, step }: NotePlace) {
  return async (text: string): Promise<void> => {
    try {
      const { result = '' } = await env.redact({ status: 'success', result: text });
      const data = { code, name, note: result.slice(0, LIMITS.faultChars) };
      await store.events.append(threadId, { type: 'code.note', data, step });
    } catch {
      // The thread is terminated, or the store is unavailable.
    }
  };
}
