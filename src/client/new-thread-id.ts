/** The id of a new thread or task, in Node and in browsers. */
import { ID_BYTES, makeThreadId } from '../core/thread/thread-id.ts';

/** What is no name is refused with the rest of what was given. */
export function newThreadId(agent: unknown): string {
  return makeThreadId(String(agent), crypto.getRandomValues(new Uint8Array(ID_BYTES)));
}
