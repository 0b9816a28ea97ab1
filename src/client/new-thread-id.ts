/** Makes the id of a new thread or task, in Node and in browsers. */
import { ID_BYTES, makeThreadId } from '../core/thread/thread-id.ts';

/** An invalid agent name is not refused here, but when the whole input is checked. */
export function newThreadId(agent: unknown): string {
  return makeThreadId(String(agent), crypto.getRandomValues(new Uint8Array(ID_BYTES)));
}
