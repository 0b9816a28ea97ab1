/**
 * Reads a log over HTTP, as lines: `{ cursor, event }` or a mark. If a connection breaks, the reading resumes by
 * itself, without an effect for the reader.
 * - A reading resumes behind the cursor of its last whole line. A line that was cut off is sent again, and no line is
 *   yielded twice.
 * - A closed connection does not end a reading. Only the mark `end` does, or `caught-up` if the reader does not
 *   follow.
 * - A connection that is silent for longer than the interval of keep-alives is dead. If not even `begin` has arrived,
 *   a proxy in between buffers responses until they end: from then on the log is requested in responses that end.
 */
import { awaitResponse, type HttpConnection, NoAnswer, requestOnce } from './http-place.ts';
import { isTransient, pauseFor, RetryBackoff } from './patience.ts';

export interface LogLine {
  readonly cursor: string;
  /** Absent from a mark. */
  readonly event?: unknown;
  readonly mark?: 'begin' | 'caught-up' | 'keep-alive' | 'end';
}

export interface LiveReading {
  readonly path: string;
  readonly query: Readonly<Record<string, string | undefined>>;
  readonly after?: string | undefined;
  readonly follow: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Milliseconds of silence after which a connection is dead. Keep-alives come every 15 s. */
const MAX_SILENCE_MS = 40_000;
/** Milliseconds between responses that end, and after one without events. */
const POLL_INTERVAL_MS = 300;
/** Milliseconds until streaming is tried again: the proxy may be gone. */
const LIVE_RETRY_MS = 300_000;

/** Yields the lines with events, each once. Ends without an error when its signal aborts or the client is closed. */
export async function* liveLines(place: HttpConnection, reading: LiveReading): AsyncGenerator<LogLine> {
  const patience = new RetryBackoff(place, reading.signal);
  const { signal } = patience;
  let { after } = reading;
  let liveFrom = reading.follow ? 0 : Number.POSITIVE_INFINITY;
  while (!signal.aborted) {
    const live = performance.now() >= liveFrom;
    let opened = false;
    let reported = false;
    try {
      for await (const line of connect(place, { ...reading, after }, live, signal)) {
        opened = true;
        patience.answered();
        after = line.cursor;
        if ('event' in line) yield line;
        reported ||= 'event' in line;
        // The end is marked by the server, not inferred.
        if (line.mark === 'end' || (line.mark === 'caught-up' && !reading.follow)) return;
      }
      if (!opened) throw new NoAnswer('The response was empty.');
      if (!reported) await pauseFor(POLL_INTERVAL_MS, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (!isTransient(error)) throw error;
      // Responses seem to be buffered.
      if (live && !opened && error instanceof SilenceTimeout) liveFrom = performance.now() + LIVE_RETRY_MS;
      else await patience.pause(error).catch(ignoreIfAborted(signal));
    }
  }
}

function ignoreIfAborted(signal: AbortSignal): (error: unknown) => void {
  return (error) => {
    if (!signal.aborted) throw error;
  };
}

class SilenceTimeout extends NoAnswer {}

async function* connect(
  place: HttpConnection,
  { path, query, after }: LiveReading,
  live: boolean,
  signal: AbortSignal,
): AsyncGenerator<LogLine> {
  const leaving = new AbortController();
  const either = AbortSignal.any([signal, leaving.signal]);
  // The time that the reader takes to process lines does not count as silence.
  let timer = setTimeout(() => leaving.abort(), place.openWithinMs);
  try {
    const { body } = await requestOnce(
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
      const { done, value } = await awaitResponse(reader.read(), either);
      clearTimeout(timer);
      // An incomplete last line is dropped.
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) yield readLine(line);
      timer = setTimeout(() => leaving.abort(), MAX_SILENCE_MS);
    }
  } catch (error) {
    if (leaving.signal.aborted && !signal.aborted)
      throw new SilenceTimeout('No data was received for too long.');
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
  throw new NoAnswer('The response was not a log.');
}
