/**
 * Which stored message each message of a request shows. Pure. Hooks may have replaced, added and removed messages, and
 * fitting may have cut them; a message that shows none is the runtime's own or a hook's.
 * - Both lists are in their order, so the search goes from the end of both, and takes time linear in the messages.
 */
import type { ProviderMessage } from '../message/provider.ts';
import type { ContextMessage } from './context.ts';

/** The stored messages that a request was made of, and what was made of each, at the same place. */
export interface MessageOrigins {
  readonly rows: readonly Pick<ContextMessage, 'id'>[];
  readonly made: readonly ProviderMessage[];
}

/** The id of the stored message for each message of the request. */
export function findOrigins(
  messages: readonly ProviderMessage[],
  { rows, made }: MessageOrigins,
): (string | undefined)[] {
  const places = findSame(messages, made);
  pairChanged(places, messages, made);
  return places.map((place) => (place === undefined ? undefined : rows[place]?.id));
}

type Places = (number | undefined)[];

function findSame(messages: readonly ProviderMessage[], made: readonly ProviderMessage[]): Places {
  const places: Places = new Array(messages.length).fill(undefined);
  // Messages that were all replaced would otherwise each search the whole list.
  let searches = 4 * (messages.length + made.length);
  let last = made.length - 1;
  for (let at = messages.length - 1; at >= 0 && last >= 0; at -= 1) {
    const message = messages[at] as ProviderMessage;
    for (let place = last; place >= 0 && searches > 0; place -= 1) {
      searches -= 1;
      if (!isSame(message, made[place] as ProviderMessage)) continue;
      places[at] = place;
      last = place - 1;
      break;
    }
  }
  return places;
}

function isSame(one: ProviderMessage, other: ProviderMessage): boolean {
  if (one === other) return true;
  if (one.role !== other.role) return false;
  if (one.role === 'tool') return one.toolCallId === (other as typeof one).toolCallId;
  if (one.role === 'assistant') {
    const { toolCalls = [], content } = other as typeof one;
    return one.content === content && one.toolCalls?.[0]?.id === toolCalls[0]?.id;
  }
  return typeof one.content === 'string' && one.content === other.content;
}

/** Between two messages that are the same, those with the same role belong together, from the end of both. */
function pairChanged(
  places: Places,
  messages: readonly ProviderMessage[],
  made: readonly ProviderMessage[],
): void {
  let [from, begin] = [0, 0];
  for (let at = 0; at <= messages.length; at += 1) {
    const place = at === messages.length ? made.length : places[at];
    if (place === undefined) continue;
    let candidate = place - 1;
    for (let changed = at - 1; changed >= from && candidate >= begin; changed -= 1) {
      if (made[candidate]?.role !== messages[changed]?.role) continue;
      places[changed] = candidate;
      candidate -= 1;
    }
    [from, begin] = [at + 1, place + 1];
  }
}
