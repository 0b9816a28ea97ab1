/**
 * Tickets for WebSockets, because a browser cannot send headers with one. A ticket is valid once, for one path, for
 * half a minute, at the process that issued it. A client whose ticket is refused requests another.
 */
import { randomBytes } from 'node:crypto';
import type { Caller } from '../api/caller.ts';

export const TICKET_SECONDS = 30;
/** Maximum number of tickets, of all callers; the oldest are dropped. */
const MAX_TICKETS = 10_000;

interface Ticket {
  readonly caller: Caller;
  readonly pathname: string;
  readonly until: number;
}

export interface Tickets {
  give(caller: Caller, pathname: string): string;
  /** Returns the caller that got the ticket; null if it is unknown, expired or for another path. Always uses it up. */
  take(ticket: string, pathname: string): Caller | null;
}

export function createTickets(now: () => number = Date.now): Tickets {
  const given = new Map<string, Ticket>();
  const forget = () => {
    for (const [key, { until }] of given) {
      if (until > now() && given.size < MAX_TICKETS) return;
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
