/**
 * The only door out of the isolate: one function of the child process, which takes texts, numbers and bytes.
 * It blocks the isolate's thread while the host is behind with listening, so no flood can pile up anywhere.
 */
import { typedArrayBuffer } from '../intrinsics.ts';
import type { Wire } from '../wire.ts';

/** An isolated-vm Reference to the child's own function. */
export interface PortReference {
  applySyncPromise(receiver: undefined, args: readonly unknown[], options: object): unknown;
}

export type GuestSays =
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

// Read by the engine through the prototype chain, which the user may have poisoned: hence no prototype.
const COPIED = { __proto__: null, arguments: { __proto__: null, copy: true } };

let port: PortReference;

export function openPort(reference: PortReference): void {
  port = reference;
}

export function say(says: GuestSays, first: number, second: number, text: string, bytes?: ArrayBuffer): void {
  port.applySyncPromise(undefined, [says, first, second, text, bytes], COPIED);
}

export function sayWire(says: GuestSays, first: number, second: number, { text, bytes }: Wire): void {
  // A user may have replaced the getter of `buffer`.
  say(says, first, second, text, bytes && typedArrayBuffer(bytes));
}
