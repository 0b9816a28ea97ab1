/** The messages between a supervisor and its worker process. */
import type { Unit } from './journal.ts';

/** A worker process that fell by itself. `id` makes a repeated report harmless. */
export interface ToldDeath {
  readonly id: string;
  readonly culprit?: Unit;
  readonly suspects: readonly Unit[];
}

export type ToWorker<Order, Server> =
  | { readonly kind: 'order'; readonly order: Order; readonly deaths: readonly ToldDeath[] }
  /** After `loaded`. */
  | { readonly kind: 'server'; readonly server: Server }
  /** It answers with `answer` and the same id; before it is ready it does not. */
  | { readonly kind: 'ask'; readonly id: number; readonly what: Asked }
  /** Running work is finished or handed over. */
  | { readonly kind: 'stop' };

/** Its figures as text, and whether it can work. */
export type Asked = 'metrics' | 'readiness';

export type FromWorker<Ready> =
  /** Another process told it to end, and it ends in order. */
  | { readonly kind: 'leaving' }
  /** It ends with an error that a restart cannot fix. */
  | { readonly kind: 'refusing' }
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  /** What it is doing before it is ready, for people. */
  | { readonly kind: 'doing'; readonly what: string }
  /** Its project has problems, and it waits for whoever mends them. */
  | { readonly kind: 'unmended' }
  /** The project was read and has no problems. */
  | { readonly kind: 'loaded' }
  /** It is about to take work; the deaths that it was told of are stored. */
  | { readonly kind: 'ready'; readonly ready: Ready };
