/**
 * A log over HTTP, as lines: `{ cursor, event }` or a mark. It goes on by itself where a connection broke, and its reader notices nothing.
 * L1. Where a reading goes on is the cursor of the last whole line: what was cut in its middle comes again, and nothing that came does.
 * L2. A closed connection ends nothing: `end` does, and `caught-up` for who does not follow.
 * L3. A connection that says nothing for longer than keep-alives leave is dead. One that does not even say `open` runs through something that
 *     holds answers back until they end: from then on the log is asked for in answers that end.
 */
import { answerOf, askOnce, type HttpPlace, NoAnswer } from './http-place.ts';
import { isPassing, Patience, pauseFor } from './patience.ts';

export interface LogLine {
  readonly cursor: string;
  /** Absent of a mark. */
  readonly event?: unknown;
  readonly mark?: 'open' | 'caught-up' | 'keep-alive' | 'end';
}

export interface LiveReading {
  readonly path: string;
  readonly query: Readonly<Record<string, string | undefined>>;
  readonly after: string | undefined;
  readonly follow: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** L3. Keep-alives come every 15 s. */
const SILENCE_MS = 40_000;
/** Between answers that end, and after one that told nothing. */
const LOOK_AGAIN_MS = 300;
/** L3: what holds answers back may be gone. */
const LIVE_AGAIN_MS = 300_000;

/** Lines with events, each once. Ends quietly with its signal, and with the client. */
export async function* liveLines(place: HttpPlace, reading: LiveReading): AsyncGenerator<LogLine> {
  const patience = new Patience(place, reading.signal);
  const { signal } = patience;
  let { after } = reading;
  let liveFrom = reading.follow ? 0 : Number.POSITIVE_INFINITY;
  while (!signal.aborted) {
    const live = performance.now() >= liveFrom;
    let opened = false;
    let told = false;
    try {
      for await (const line of connect(place, { ...reading, after }, live, signal)) {
        opened = true;
        patience.answered();
        // L1: on from here.
        after = line.cursor;
        if ('event' in line) yield line;
        told ||= 'event' in line;
        // L2: told, not guessed.
        if (line.mark === 'end' || (line.mark === 'caught-up' && !reading.follow)) return;
      }
      if (!opened) throw new NoAnswer('The answer was empty.');
      if (!told) await pauseFor(LOOK_AGAIN_MS, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (!isPassing(error)) throw error;
      // L3: held back, it seems.
      if (live && !opened && error instanceof Silence) liveFrom = performance.now() + LIVE_AGAIN_MS;
      else await patience.pause(error).catch(unlessAborted(signal));
    }
  }
}

function unlessAborted(signal: AbortSignal): (error: unknown) => void {
  return (error) => {
    if (!signal.aborted) throw error;
  };
}

class Silence extends NoAnswer {}

async function* connect(
  place: HttpPlace,
  { path, query, after }: LiveReading,
  live: boolean,
  signal: AbortSignal,
): AsyncGenerator<LogLine> {
  const leaving = new AbortController();
  const either = AbortSignal.any([signal, leaving.signal]);
  // L3: the time that a reader takes for what came is no silence.
  let timer = setTimeout(() => leaving.abort(), place.openWithinMs);
  try {
    const { body } = await askOnce(
      place,
      {
        path,
        query: { ...query, after, ...(live ? {} : { follow: 'false' }) },
        headers: { accept: 'application/x-ndjson' },
      },
      either,
    );
    if (!body) return;
    const reader = body.getReader();
    const decoder = new TextDecoder();
    let rest = '';
    for (;;) {
      const { done, value } = await answerOf(reader.read(), either);
      clearTimeout(timer);
      // L1: a line without its end is none.
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) yield readLine(line);
      timer = setTimeout(() => leaving.abort(), SILENCE_MS);
    }
  } catch (error) {
    if (leaving.signal.aborted && !signal.aborted) throw new Silence('Nothing came for too long.');
    throw error;
  } finally {
    clearTimeout(timer);
    leaving.abort();
  }
}

function readLine(text: string): LogLine {
  try {
    const line = JSON.parse(text) as LogLine;
    if (typeof line.cursor === 'string') return line;
  } catch {
    // Told below.
  }
  throw new NoAnswer('The answer was no log.');
}
