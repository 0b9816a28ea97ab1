/** A reader that waits until it is woken, once: by whom it waits for, by its own signal, or by its time. */
import { defer } from '../../core/value/deferred.ts';
import type { AwaitGrowth } from './event-record.ts';

export interface OpenWaiter {
  readonly promise: Promise<void>;
  readonly wake: () => void;
}

/** `forget`: called as it is woken. */
export function openWaiter({ signal, withinMs }: AwaitGrowth, forget: () => void): OpenWaiter {
  const { promise, resolve } = defer<void>();
  const wake = () => {
    clearTimeout(late);
    signal?.removeEventListener('abort', wake);
    forget();
    resolve();
  };
  signal?.addEventListener('abort', wake, { once: true });
  const late = withinMs === undefined ? undefined : setTimeout(wake, withinMs);
  return { promise, wake };
}
