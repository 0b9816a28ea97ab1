/**
 * Tickets of sockets: a browser cannot send a header with one. A ticket is good once, for one path, for half a minute, at the process that
 * gave it: a client whose ticket is refused asks for another.
 */
import { randomBytes } from 'node:crypto';
import type { Caller } from '../api/caller.ts';

export const TICKET_SECONDS = 30;
/** Of all callers: the oldest give way. */
const MOST = 10_000;

interface Ticket {
  readonly caller: Caller;
  readonly pathname: string;
  readonly until: number;
}

export interface Tickets {
  give(caller: Caller, pathname: string): string;
  /** Who it was given to; null where it is not good for this path, or not any more. It is used up in every case. */
  take(ticket: string, pathname: string): Caller | null;
}

export function createTickets(now: () => number = Date.now): Tickets {
  const given = new Map<string, Ticket>();
  const forget = () => {
    for (const [key, { until }] of given) {
      if (until > now() && given.size < MOST) return;
      given.delete(key);
    }
  };
  return {
    give(caller, pathname) {
      forget();
      const key = randomBytes(32).toString('base64url');
      given.set(key, { caller, pathname, until: now() + TICKET_SECONDS * 1000 });
      return key;
    },
    take(key, pathname) {
      const found = given.get(key);
      given.delete(key);
      return found && found.pathname === pathname && found.until > now() ? found.caller : null;
    },
  };
}
