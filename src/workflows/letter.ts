/**
 * A payload as it was sent, not decoded yet. It reaches its handler wrapped, past the SDK's own decoding, which throws at what is
 * not JSON (a throw in a handler fails the workflow task for ever) and decodes whatever its size. Reading a letter never throws
 * and is bounded.
 * L1. The wrapped payload holds its letters under a symbol, which no bytes from outside can forge.
 */
import type { Payload } from '@temporalio/common';
import type { Refusal } from '../core/thread/item.ts';
import { LIMITS } from '../core/value/limit.ts';

/** A signal's or an update's payload; of several the first. */
export interface Letter {
  readonly payload?: Payload | undefined;
  /** The signal's or update's name, cut where a thread does not know it; absent for a start. */
  readonly name?: string;
}

/** How many bytes of letters this activation may still decode in its present script. */
export interface Budget {
  left: number;
}

export interface Batch {
  readonly letters: readonly Letter[];
  readonly budget: Budget;
}

export type Read =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly refusal: Refusal; readonly beyond?: true };

const NULL = 'binary/null';
const JSON_PLAIN = 'json/plain';
/** Node's, which the SDK puts into the workflow's context. What is no UTF-8 becomes replacement characters. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

const CARRIED = Symbol.for('everthread.carried');

/** A payload that is handed to its handler as the value itself. */
export function wrap(value: unknown): Payload {
  return { [CARRIED]: { value } } as Payload;
}

export function unwrap(payload: Payload): { readonly value: unknown } | undefined {
  return (payload as { [CARRIED]?: { value: unknown } })[CARRIED];
}

export function letterBytes({ payload }: Letter): number {
  return payload?.data?.length ?? 0;
}

/** A payload that is absent or null is `undefined`. */
export function readLetter({ payload }: Letter, maxBytes: number): Read {
  if (payload === undefined || payload === null) return { ok: true, value: undefined };
  const encoding = payload.metadata?.encoding;
  if (spells(encoding, NULL)) return { ok: true, value: undefined };
  if (!spells(encoding, JSON_PLAIN)) {
    const name = decodeText(encoding?.subarray(0, 100));
    const found = name === '' ? 'it names no encoding' : `its encoding is ${JSON.stringify(name)}`;
    return refuse('InvalidMessage', `the payload must be JSON (encoding "${JSON_PLAIN}"), but ${found}`);
  }
  const { data } = payload;
  if (data && maxBytes < data.length) {
    const reason = `the payload of ${data.length} bytes is more than the ${maxBytes} that are read; send it with the everthread client, which stores large content first`;
    return { ...refuse('MessageTooLarge', reason), beyond: true };
  }
  // Nested lists are the most expensive JSON to parse, and would be refused afterwards.
  if (data && maxBytes !== Number.POSITIVE_INFINITY && isNested(data, LIMITS.jsonDepth + 1)) {
    const reason = `the payload is nested deeper than ${LIMITS.jsonDepth} levels`;
    return { ...refuse('InvalidMessage', reason), beyond: true };
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

/** Are lists and objects opened within one another beyond so many levels? In UTF-8 no part of a character looks like a bracket. */
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

/** Without decoding: each payload is asked. */
function spells(bytes: Uint8Array | null | undefined, text: string): boolean {
  if (bytes?.length !== text.length) return false;
  for (let i = 0; i < text.length; i++) if (bytes[i] !== text.charCodeAt(i)) return false;
  return true;
}

function decodeText(bytes: Uint8Array | null | undefined): string {
  return bytes ? decoder.decode(bytes) : '';
}
