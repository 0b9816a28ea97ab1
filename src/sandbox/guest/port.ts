/**
 * The only way out of the isolate: one function of the child process, which takes texts, numbers and bytes. It blocks
 * the isolate's thread while the host is behind with reading, so that a flood cannot fill a buffer anywhere.
 */
import { bufferBytes, typedArrayBuffer } from '../codec/intrinsics.ts';
import type { Wire } from '../codec/wire.ts';

/** An isolated-vm Reference to the child's own function. */
export interface PortReference {
  applyIgnored(receiver: undefined, args: readonly unknown[], options: object): void;
  applySyncPromise(receiver: undefined, args: readonly unknown[], options: object): unknown;
}

export type GuestMessageKind =
  | 'started'
  | 'call'
  | 'answer'
  | 'refusal'
  | 'report'
  | 'log'
  | 'load'
  | 'evaluated'
  | 'done'
  | 'threw'
  | 'missing';

// The engine reads these through the prototype chain, which user code may have poisoned: hence no prototype.
const COPY_ARGUMENTS = { __proto__: null, arguments: { __proto__: null, copy: true } };

let port: PortReference;

export function openPort(reference: PortReference): void {
  port = reference;
}

/** How much may be sent before it is processed; at this limit, the isolate's thread waits until all of it was. */
const MAX_MESSAGES_AHEAD = 64;
const MAX_UNITS_AHEAD = 256 * 1024;

let messagesAhead = 0;
let unitsAhead = 0;

/** Sends messages in order. Waiting for each of them would cost twenty times as much. */
export function sendToChild(
  says: GuestMessageKind,
  first: number,
  second: number,
  text: string,
  bytes?: ArrayBuffer,
): void {
  messagesAhead += 1;
  unitsAhead += text.length + (bytes ? bufferBytes(bytes) : 0);
  if (messagesAhead < MAX_MESSAGES_AHEAD && unitsAhead < MAX_UNITS_AHEAD) {
    port.applyIgnored(undefined, [says, first, second, text, bytes], COPY_ARGUMENTS);
    return;
  }
  messagesAhead = 0;
  unitsAhead = 0;
  port.applySyncPromise(undefined, [says, first, second, text, bytes], COPY_ARGUMENTS);
}

export function sendWire(says: GuestMessageKind, first: number, second: number, { text, bytes }: Wire): void {
  // User code may have replaced the getter of `buffer`.
  sendToChild(says, first, second, text, bytes && typedArrayBuffer(bytes));
}
