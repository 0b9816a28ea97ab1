/** What a part of the page reads from the server: the answer, or why there is none. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { codeOf, messageOf } from '../session/session.ts';

export interface Load<T> {
  readonly value: T | null;
  readonly error: unknown;
  again(): void;
}

/** Reads again when one of `causes` has changed; the last answer is shown meanwhile. */
export function useLoad<T>(work: () => Promise<T>, causes: readonly unknown[]): Load<T> {
  const state = useSignal<{ readonly value: T | null; readonly error: unknown }>({
    value: null,
    error: null,
  });
  const times = useSignal(0);
  useEffect(() => {
    let over = false;
    work().then(
      (value) => {
        if (!over) state.value = { value, error: null };
      },
      (error: unknown) => {
        if (!over) state.value = { value: null, error };
      },
    );
    return () => {
      over = true;
    };
  }, [...causes, times.value]);
  const again = () => {
    times.value += 1;
  };
  return { ...state.value, again };
}

interface LoadedProps<T> {
  readonly load: Load<T>;
  readonly children: (value: T) => ComponentChildren;
}

export function Loaded<T>({ load: { value, error }, children }: LoadedProps<T>) {
  if (error !== null)
    return (
      <p class="line failure" role="alert">
        <bdi>
          {codeOf(error) === 'RouteNotFound'
            ? 'This server does not have this yet: update it.'
            : messageOf(error)}
        </bdi>
      </p>
    );
  return value === null ? <p class="faint">Reading…</p> : children(value);
}
