/**
 * A letter is a payload as it was sent, not decoded yet. It is wrapped to bypass the SDK's decoding, which throws if
 * the payload is not JSON (a throw in a handler fails every attempt of the workflow task) and has no size limit.
 * Reading a letter never throws and is bounded.
 * - The wrapped payload holds its value under a symbol, which no bytes from outside can forge.
 */
import type { Payload } from '@temporalio/common';
import type { Refusal } from '../core/thread/item.ts';
import { LIMITS } from '../core/value/limit.ts';

/** The payload of a start, a signal or an update; the first one if there are several. */
export interface Letter {
  readonly payload?: Payload | undefined;
  /** The name of the signal or update, truncated if it is unknown; absent for a start. */
  readonly name?: string;
}

/** Bytes of letters that the current script of this activation may still decode. */
export interface Budget {
  left: number;
}

export interface Batch {
  readonly letters: readonly Letter[];
  readonly budget: Budget;
}

export type Read =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly refusal: Refusal };

const NULL = 'binary/null';
const JSON_PLAIN = 'json/plain';
/** Node's decoder, which the SDK provides in the workflow's context. Invalid UTF-8 becomes replacement characters. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

const CARRIED = Symbol.for('everthread.carried');

/** Returns a payload that the converter decodes to `value` itself (payload-converter.ts). */
export function wrap(value: unknown): Payload {
  return { [CARRIED]: { value } } as Payload;
}

export function unwrap(payload: Payload): { readonly value: unknown } | undefined {
  return (payload as { [CARRIED]?: { value: unknown } })[CARRIED];
}

export function letterBytes({ payload }: Letter): number {
  return payload?.data?.length ?? 0;
}

/** Decodes the payload as JSON, or returns a refusal. The value is `undefined` if the payload is absent or null. */
export function readLetter({ payload }: Letter, maxBytes: number): Read {
  if (payload === undefined || payload === null) return { ok: true, value: undefined };
  const encoding = payload.metadata?.encoding;
  if (equalsAscii(encoding, NULL)) return { ok: true, value: undefined };
  if (!equalsAscii(encoding, JSON_PLAIN)) {
    const name = decodeText(encoding?.subarray(0, 100));
    const found = name === '' ? 'it names no encoding' : `its encoding is ${JSON.stringify(name)}`;
    return refuse('InvalidMessage', `the payload must be JSON (encoding "${JSON_PLAIN}"), but ${found}`);
  }
  const { data } = payload;
  if (data && maxBytes < data.length) {
    const reason = `the payload of ${data.length} bytes is more than the ${maxBytes} that are read; send it with the everthread client, which stores large content first`;
    return refuse('MessageTooLarge', reason);
  }
  // Nested lists are the most expensive JSON to parse, and would be refused afterwards.
  if (data && maxBytes !== Number.POSITIVE_INFINITY && isNested(data, LIMITS.jsonDepth + 1)) {
    const reason = `the payload is nested deeper than ${LIMITS.jsonDepth} levels`;
    return refuse('InvalidMessage', reason);
  }
  try {
    return { ok: true, value: JSON.parse(decodeText(data)) };
  } catch {
    return refuse('InvalidMessage', 'the payload is not JSON');
  }
}

function refuse(code: Refusal['code'], reason: string): { readonly ok: false; readonly refusal: Refusal } {
  return { ok: false, refusal: { code, reason } };
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** True if JSON is nested deeper than `levels`. Scans bytes: in UTF-8 no part of another character equals a bracket. */
function isNested(bytes: Uint8Array, levels: number): boolean {
  if (bytes.length <= levels) return false;
  let depth = 0;
  let quoted = false;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number;
    if (quoted) {
      if (byte === BACKSLASH) i += 1;
      else if (byte === QUOTE) quoted = false;
    } else if (byte === QUOTE) quoted = true;
    else if (byte === 0x5b || byte === 0x7b) {
      depth += 1;
      if (depth > levels) return true;
    } else if (byte === 0x5d || byte === 0x7d) depth -= 1;
  }
  return false;
}

/** True if the bytes are this ASCII text. Compares without decoding, because it is called for each payload. */
function equalsAscii(bytes: Uint8Array | null | undefined, text: string): boolean {
  if (bytes?.length !== text.length) return false;
  for (let i = 0; i < text.length; i++) if (bytes[i] !== text.charCodeAt(i)) return false;
  return true;
}

function decodeText(bytes: Uint8Array | null | undefined): string {
  return bytes ? decoder.decode(bytes) : '';
}
