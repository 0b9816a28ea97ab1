/** The messages between a supervisor and its worker process. */
import type { Unit } from './journal.ts';

/** A worker process that crashed by itself. `id` makes a repeated report harmless. */
export interface ReportedDeath {
  readonly id: string;
  readonly culprit?: Unit;
  readonly suspects: readonly Unit[];
}

export type ToWorker<Order, Server> =
  | { readonly kind: 'order'; readonly order: Order; readonly deaths: readonly ReportedDeath[] }
  /** Sent after the worker's message `loaded`. */
  | { readonly kind: 'server'; readonly server: Server }
  /** The worker replies with `answer` and the same id; before it is ready it does not reply. */
  | { readonly kind: 'ask'; readonly id: number; readonly what: Asked }
  /** The worker shuts down: running work is finished or handed over. */
  | { readonly kind: 'stop' };

/** `metrics`: the worker's metrics as text. `readiness`: whether it can work. */
export type Asked = 'metrics' | 'readiness';

export type FromWorker<Ready> =
  /** Something other than the supervisor asked the worker to end, and it shuts down in order. */
  | { readonly kind: 'leaving' }
  /** The worker ends with an error that a restart cannot fix. */
  | { readonly kind: 'refusing' }
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  /** A description, for people, of what the worker is doing before it is ready. */
  | { readonly kind: 'doing'; readonly what: string }
  /** The project has problems, and the worker waits until a person has fixed them. */
  | { readonly kind: 'unmended' }
  /** The project was read and has no problems. */
  | { readonly kind: 'loaded' }
  /** The worker is about to take work; the deaths in its `order` are stored. */
  | { readonly kind: 'ready'; readonly ready: Ready };
