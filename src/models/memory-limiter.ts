/**
 * The rate limiter of one process (rate-limiter.ts): a line for each endpoint, key and model, each at the pace that its
 * provider accepts (core/governance/pace.ts). What it has learnt is in memory, and lost with the process.
 * - Requests stand in line by the time at which their step first asked, wherever they have waited meanwhile.
 * - Nobody waits here for more than the time that the request allows, nor as one of more than may run at once: the
 *   others are sent away with a time to come back, and hold no place of the worker meanwhile.
 * - Only MAX_KEPT lines are kept. One without requests is forgotten after FORGET_MS; if none can be, a request of
 *   another endpoint is let in without a line.
 */
import {
  afterAccepted,
  afterRefusal,
  allowed,
  type Load,
  mayEnter,
  type Pace,
  UNREFUSED,
} from '../core/governance/pace.ts';
import type { Admission, EnteringRequest, Lease, RateLimiter } from './rate-limiter.ts';

interface Waiter {
  readonly since: number;
  readonly admit: () => void;
  readonly sendAway: () => void;
}

interface Line {
  readonly model: string;
  ceiling: number;
  pace: Pace;
  running: number;
  unanswered: number;
  acceptedAt: number;
  usedAt: number;
  /** By `since`. */
  waiting: Waiter[];
  /** Tickets of those that were sent away, with the time at which each is forgotten. */
  readonly away: Map<string, number>;
  wake?: NodeJS.Timeout;
}

const MAX_KEPT = 1000;
const MAX_AWAY = 10_000;
const FORGET_MS = 10 * 60_000;
/** How much later than it was told a request may come back without losing its place in the count. */
const LATE_MS = 60_000;
/** Those who are sent away come back after the shortest time, or as soon as something may be sent, and up to `spread` later. */
const AWAY_MS = { least: 5000, spread: 30_000 } as const;
const MOST_WAITING = 64;

export interface LimiterOptions {
  /** A steady clock in milliseconds. */
  readonly now?: () => number;
  /** From 0 up to 1. */
  readonly random?: () => number;
}

export function createRateLimiter(options: LimiterOptions = {}): RateLimiter {
  const { now = () => performance.now(), random = Math.random } = options;
  const lines = new Map<string, Line>();
  const clock = { now, random };
  return {
    enter: (request) => enter(clock, lineOf(lines, request, now()), request),
    mayHold: (model) =>
      [...lines.values()].some((line) => line.model === model && Number.isFinite(limitOf(line))),
    list: () =>
      [...lines.values()].map((line) => ({
        model: line.model,
        running: line.running,
        waiting: line.waiting.length + line.away.size,
        limit: limitOf(line),
      })),
  };
}

type Clock = Required<LimiterOptions>;

function limitOf({ pace, ceiling }: Line): number {
  return Math.min(allowed(pace), ceiling);
}

/** Finds the line, or begins one. */
function lineOf(
  lines: Map<string, Line>,
  { line: key, model, concurrency }: EnteringRequest,
  now: number,
): Line {
  const ceiling = concurrency ?? Number.POSITIVE_INFINITY;
  for (const [known, line] of lines) if (isForgotten(line, now)) lines.delete(known);
  const known = lines.get(key);
  if (known) {
    known.ceiling = ceiling;
    known.usedAt = now;
    return known;
  }
  const line: Line = {
    model,
    ceiling,
    pace: UNREFUSED,
    running: 0,
    unanswered: 0,
    usedAt: now,
    acceptedAt: Number.NEGATIVE_INFINITY,
    waiting: [],
    away: new Map(),
  };
  if (lines.size < MAX_KEPT) lines.set(key, line);
  return line;
}

function isForgotten(line: Line, now: number): boolean {
  for (const [ticket, until] of line.away) if (until < now) line.away.delete(ticket);
  const isIdle = line.running === 0 && line.waiting.length === 0 && line.away.size === 0;
  return isIdle && now - line.usedAt > FORGET_MS;
}

async function enter(clock: Clock, line: Line, request: EnteringRequest): Promise<Admission> {
  const { ticket, since, maxWaitMs, urgent, signal } = request;
  signal.throwIfAborted();
  line.away.delete(ticket);
  const isFirst = !line.waiting.some((waiter) => waiter.since <= since);
  if (urgent || (isFirst && mayEnter(line.pace, line, clock.now(), line.ceiling))) return admit(clock, line);
  if (line.pace.heldUntil - clock.now() > maxWaitMs) return sendAway(clock, line, ticket);
  const admitted = await waitInLine(clock, line, request);
  return admitted ?? sendAway(clock, line, ticket);
}

/** Undefined if the request may not wait any longer. */
function waitInLine(
  clock: Clock,
  line: Line,
  { since, maxWaitMs, signal }: EnteringRequest,
): Promise<Admission | undefined> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      line.waiting = line.waiting.filter((each) => each !== waiter);
      line.usedAt = clock.now();
    };
    const settle = (admission?: () => Admission) => {
      leave();
      resolve(admission?.());
    };
    const onAbort = () => {
      leave();
      reject(signal.reason);
    };
    const waiter: Waiter = {
      since,
      admit: () => settle(() => admit(clock, line)),
      sendAway: () => settle(),
    };
    const timer = setTimeout(() => settle(), maxWaitMs);
    signal.addEventListener('abort', onAbort);
    line.waiting = [...line.waiting, waiter].sort((one, other) => one.since - other.since);
    if (line.waiting.length > Math.min(limitOf(line), MOST_WAITING)) line.waiting.at(-1)?.sendAway();
    letIn(clock, line);
  });
}

/** Lets in those at the front of the line. Called whenever one may have become free to enter. */
function letIn(clock: Clock, line: Line): void {
  clearTimeout(line.wake);
  while (line.waiting[0] && mayEnter(line.pace, line, clock.now(), line.ceiling)) line.waiting[0].admit();
  const heldMs = line.pace.heldUntil - clock.now();
  if (line.waiting.length > 0 && heldMs > 0)
    line.wake = setTimeout(() => letIn(clock, line), Math.ceil(heldMs));
}

function admit(clock: Clock, line: Line): Admission {
  return { kind: 'admitted', acceptedAgoMs: clock.now() - line.acceptedAt, lease: openLease(clock, line) };
}

/** Tells when to come back. */
function sendAway(clock: Clock, line: Line, ticket: string): Admission {
  const now = clock.now();
  const { least, spread } = AWAY_MS;
  // The more there are for each place, the more time they are spread over.
  const turns = (1 + line.away.size) / limitOf(line);
  const later = Math.min(spread, least * turns) * clock.random();
  const pauseMs = Math.ceil(Math.max(least, line.pace.heldUntil - now) + later);
  if (line.away.size < MAX_AWAY) line.away.set(ticket, now + pauseMs + LATE_MS);
  const refused = Number.isFinite(line.pace.limit);
  return { kind: 'later', acceptedAgoMs: now - line.acceptedAt, pauseMs, refused };
}

function openLease(clock: Clock, line: Line): Lease {
  const sentAt = clock.now();
  let [isUnanswered, isAccepted, isOver] = [true, false, false];
  line.running += 1;
  line.unanswered += 1;
  const answer = () => {
    if (isUnanswered) line.unanswered -= 1;
    isUnanswered = false;
  };
  return {
    accepted() {
      if (!isUnanswered) return;
      answer();
      isAccepted = true;
      line.pace = afterAccepted(line.pace, line satisfies Load);
      line.acceptedAt = clock.now();
      letIn(clock, line);
    },
    refused(retryAfterMs) {
      const now = clock.now();
      const { running } = line;
      line.pace = afterRefusal(line.pace, { sentAt, now, running, retryAfterMs, random: clock.random() });
      return line.pace.heldUntil - now;
    },
    end() {
      if (isOver) return;
      isOver = true;
      answer();
      line.running -= 1;
      line.usedAt = clock.now();
      if (isAccepted) line.acceptedAt = line.usedAt;
      letIn(clock, line);
    },
  };
}
