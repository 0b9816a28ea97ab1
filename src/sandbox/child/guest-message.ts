/** Parses the messages that the sandbox's own code in the isolate sends through its port. */

import type { Wire } from '../codec/wire.ts';
import type { Crossing, Remark } from '../protocol.ts';

export type GuestMessage =
  | { readonly kind: 'started' }
  | { readonly kind: 'crossing'; readonly crossing: Crossing }
  | { readonly kind: 'remark'; readonly remark: Remark }
  | { readonly kind: 'load'; readonly id: number; readonly referrer: number; readonly specifier: string }
  /** A module that `import()` requested has been evaluated. */
  | { readonly kind: 'evaluated'; readonly index: number }
  | { readonly kind: 'done'; readonly functions: number; readonly wire: Wire }
  | { readonly kind: 'threw'; readonly wire: Wire }
  | { readonly kind: 'missing'; readonly names: string };

export function readGuestMessage(
  says: string,
  first: number,
  second: number,
  text: string,
  buffer?: ArrayBuffer,
): GuestMessage {
  const wire: Wire = buffer ? { text, bytes: new Uint8Array(buffer) } : { text };
  switch (says) {
    case 'call':
      return { kind: 'crossing', crossing: { kind: 'call', id: first, fn: second, wire } };
    case 'answer':
    case 'refusal':
      return { kind: 'crossing', crossing: { kind: 'answer', id: first, ok: says === 'answer', wire } };
    case 'report':
      return { kind: 'remark', remark: { kind: 'report', wire } };
    case 'log':
      return { kind: 'remark', remark: { kind: 'log', level: first, wire } };
    case 'load':
      return { kind: 'load', id: first, referrer: second, specifier: text };
    case 'evaluated':
      return { kind: 'evaluated', index: first };
    case 'done':
      return { kind: 'done', functions: first, wire };
    case 'threw':
      return { kind: 'threw', wire };
    case 'missing':
      return { kind: 'missing', names: text };
    default:
      return { kind: 'started' };
  }
}
