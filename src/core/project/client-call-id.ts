/**
 * The id under which a client is given a call of its tool (client-tool.ts): short, of letters that every provider takes
 * back, as clients may continue a conversation elsewhere. The wait for the call's result has the same id, so a result is
 * found by it alone.
 */
import { sha256OfAscii } from '../value/sha256.ts';

export interface ClientCallPlace {
  readonly threadId: string;
  /** Providers may use a call id again in a later step. */
  readonly step: number;
  /** The model's own id of the call. */
  readonly callId: string;
}

export function clientCallId({ threadId, step, callId }: ClientCallPlace): string {
  return `call_${sha256OfAscii(toAscii(JSON.stringify([threadId, step, callId]))).slice(0, 32)}`;
}

function toAscii(text: string): string {
  return text.replaceAll(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16)}`);
}
