/** The place that the page shows: the fragment of its address, as a signal. */
import { signal } from '@preact/signals';
import { type Filters, type Place, parsePlace, type Tab, takeToken, toFragment } from './address.ts';
import { useToken } from './session/session.ts';

export const place = signal<Place>(parsePlace(location.hash));

/** Follows the address; a token that comes with one is taken out of it at once. */
export function followAddress(): void {
  addEventListener('hashchange', () => {
    const { token, rest } = takeToken(location.hash);
    if (token !== null) {
      history.replaceState(null, '', `${location.pathname}${rest}`);
      void useToken(token);
    }
    place.value = parsePlace(location.hash);
  });
}

export function go(to: Place): void {
  location.hash = toFragment(to);
}

/** As `go`, without a step in the history of the browser. */
export function replace(to: Place): void {
  history.replaceState(null, '', toFragment(to));
  place.value = to;
}

export function filterBy(filters: Filters): void {
  replace({ view: 'threads', filters });
}

export function openTab(threadId: string, tab: Tab | undefined): void {
  replace({ view: 'thread', threadId, ...(tab && { tab }) });
}

/** Shows what a model was sent. */
export function goToCall(threadId: string, call: string): void {
  replace({ view: 'thread', threadId, tab: 'request', call });
}
