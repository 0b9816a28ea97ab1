/** The place that the page shows: the fragment of its address, as a signal. */
import { signal } from '@preact/signals';
import { type Filters, type Place, parsePlace, type Tab, toFragment } from './address.ts';
import { takeAddressToken, useToken } from './session/session.ts';

export const place = signal<Place>(parsePlace(location.hash));

/** Follows the address; a token that comes with one is taken out of it at once. */
export function followAddress(): void {
  addEventListener('hashchange', () => {
    const token = takeAddressToken();
    if (token !== null) void useToken(token);
    place.value = parsePlace(location.hash);
  });
}

/** Shows another place, without a step in the history of the browser. */
function replace(to: Place): void {
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
