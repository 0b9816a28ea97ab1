/**
 * Notes whether a stream of server-sent events has had the end of Chat Completions, `[DONE]`. The SDK hides it, and without a finish
 * reason it alone tells an answer from one that was cut off.
 */

const watches = new WeakMap<Response, EndWatch>();

export interface EndWatch {
  note(chunk: Uint8Array): void;
  readonly isDone: boolean;
}

/** Bytes of the end that are kept: a whole line, with what may stand around it. */
const TAIL_BYTES = 64;
/** At the begin of a line: within a text, line breaks are escaped. */
const DONE = /[\r\n]data: ?\[DONE\]/;

export function createEndWatch(): EndWatch {
  let tail = '';
  return {
    note(chunk) {
      tail = (tail + Buffer.from(chunk.subarray(-TAIL_BYTES)).toString('latin1')).slice(-TAIL_BYTES);
    },
    get isDone() {
      return DONE.test(tail);
    },
  };
}

export function keepEndWatch(response: Response, watch: EndWatch): void {
  watches.set(response, watch);
}

export function isDone(response: Response): boolean {
  return watches.get(response)?.isDone ?? false;
}
