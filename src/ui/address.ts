/**
 * What the page shows, as the fragment of its address. An address can be sent to others: it names threads and tasks, and
 * never holds a token.
 */

export const TABS = [
  'request',
  'timeline',
  'answers',
  'budget',
  'family',
  'files',
  'values',
  'effects',
  'raw',
] as const;
export type Tab = (typeof TABS)[number];

export const FILTERS = ['status', 'agent', 'userId', 'organizationId', 'tag', 'changed', 'sort'] as const;
export type Filters = Readonly<Partial<Record<(typeof FILTERS)[number], string>>>;

export type Place =
  | { readonly view: 'threads'; readonly filters: Filters }
  /** `tab`: of the open drawer; `call`: the model call that it shows. */
  | { readonly view: 'thread'; readonly threadId: string; readonly tab?: Tab; readonly call?: string }
  | { readonly view: 'tasks' }
  | { readonly view: 'task'; readonly taskId: string };

/** Anything unknown leads to the list of threads. */
export function parsePlace(fragment: string): Place {
  const [path = '', query = ''] = fragment.replace(/^#\/?/, '').split('?', 2);
  const [view, id = '', tab, call] = path.split('/').map(decode);
  if (view === 'threads' && id !== '')
    return {
      view: 'thread',
      threadId: id,
      ...(TABS.includes(tab as Tab) && { tab: tab as Tab }),
      ...(call && { call }),
    };
  if (view === 'tasks') return id === '' ? { view: 'tasks' } : { view: 'task', taskId: id };
  const given = new URLSearchParams(query);
  const filters = FILTERS.flatMap((name) => {
    const value = given.get(name);
    return value ? [[name, value]] : [];
  });
  return { view: 'threads', filters: Object.fromEntries(filters) };
}

export function toFragment(place: Place): string {
  if (place.view === 'tasks') return '#/tasks';
  if (place.view === 'task') return `#/tasks/${encodeURIComponent(place.taskId)}`;
  if (place.view === 'thread') {
    const parts = [place.threadId, place.tab, place.tab && place.call];
    return `#/threads/${parts.flatMap((part) => (part ? [encodeURIComponent(part)] : [])).join('/')}`;
  }
  const query = String(new URLSearchParams({ ...place.filters }));
  return query === '' ? '#/threads' : `#/threads?${query}`;
}

/** Separates a token from a fragment that carries one: `#token=…`, or as a part of its query. */
export function takeToken(fragment: string): { readonly token: string | null; readonly rest: string } {
  const [whole = '', token = ''] = /[#?&]token=([^&]*)/.exec(fragment) ?? [];
  if (whole === '') return { token: null, rest: fragment };
  const rest = fragment.replace(whole, whole[0] === '#' ? '#' : '').replace(/^(#[^?&]*)&/, '$1?');
  return { token: decode(token), rest };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
