/** What a supervisor and its worker process tell one another. */
import type { Unit } from './journal.ts';

/** A worker process that fell by itself. `id` makes a second telling harmless. */
export interface ToldDeath {
  readonly id: string;
  readonly culprit?: Unit;
  readonly suspects: readonly Unit[];
}

export type ToWorker<Order, Server> =
  | { readonly kind: 'order'; readonly order: Order; readonly deaths: readonly ToldDeath[] }
  /** After `loaded`. */
  | { readonly kind: 'server'; readonly server: Server }
  /** What runs is finished or handed over. */
  | { readonly kind: 'stop' };

export type FromWorker<Ready> =
  /** Somebody else has told it to go, and it goes in order. */
  | { readonly kind: 'leaving' }
  /** It ends with an error that no other start mends. */
  | { readonly kind: 'refusing' }
  /** What it is at before it is ready, for people. */
  | { readonly kind: 'doing'; readonly what: string }
  /** The project is read and has no problems. */
  | { readonly kind: 'loaded' }
  /** It is about to take work, and deaths that it was told of are stored. */
  | { readonly kind: 'ready'; readonly ready: Ready };
