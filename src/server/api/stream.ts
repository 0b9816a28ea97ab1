/**
 * Streams a log as a response: server-sent events or lines of JSON, in the same order with the same cursors.
 * S1. The first frame has the cursor that the stream begins behind. It comes before any event, so that a reader that
 *     loses the connection at once resumes from there.
 * S2. `caught-up` marks the end of the log for now, `end` its final end. A closed connection means neither.
 * S3. A stream is pulled: the store is read at most one page ahead of the reader.
 * S4. Each stream ends by itself after a while, so that deployments and load balancers can drain. The reader reconnects
 *     with its cursor.
 */

import { defer } from '../../core/value/deferred.ts';
import { SAFE_HEADERS } from './problem.ts';

/** One event of a stream. */
export interface Frame {
  /** A reader resumes behind this cursor. */
  readonly cursor: string;
  readonly data: unknown;
}

export interface StreamOptions {
  readonly format: 'sse' | 'ndjson';
  /** S1: the cursor that the stream begins behind. */
  readonly start: string;
  /** Pages of frames, in the order of the log; an empty page marks the end of the log for now. */
  readonly pages: AsyncIterable<readonly Frame[]>;
  /** True if the pages stop at the end of the log for now, with an empty page. */
  readonly toNow?: boolean;
  /** Ends the stream: the reader has left, the server closes, or the stream is too old. */
  readonly signal: AbortSignal;
  readonly onClose: () => void;
  readonly keepAliveMs: number;
}

const ENCODER = new TextEncoder();
/** Milliseconds after which a reader reconnects. */
const RETRY_MS = 1000;

/**
 * Tells an EventSource that reconnects behind the end of a complete log to stop: it would reconnect for ever. Undefined
 * for all other readers. `pages`: what the log still has for the reader.
 */
export async function stopResponse(
  { headers }: Request,
  format: StreamOptions['format'],
  pages: AsyncIterable<readonly unknown[]>,
): Promise<Response | undefined> {
  if (format !== 'sse' || !headers.has('last-event-id')) return undefined;
  for await (const page of pages) if (page.length > 0) return undefined;
  return new Response(null, { status: 204, headers: SAFE_HEADERS });
}

export function streamResponse(options: StreamOptions): Response {
  const { format, onClose } = options;
  const lines = format === 'sse' ? toSse(options) : toLines(options);
  const body = toPullStream(lines, onClose);
  return new Response(body, {
    headers: {
      'content-type':
        format === 'sse' ? 'text/event-stream; charset=utf-8' : 'application/x-ndjson; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
    },
  });
}

async function* toSse({
  start,
  pages,
  toNow = false,
  signal,
  keepAliveMs,
}: StreamOptions): AsyncGenerator<string> {
  yield `retry: ${RETRY_MS}\nid: ${start}\nevent: begin\ndata: ${JSON.stringify({ cursor: start })}\n\n`;
  let cursor = start;
  let caughtUp = false;
  for await (const page of withPulse(pages, keepAliveMs, signal)) {
    if (page !== 'pulse') caughtUp = toNow && page.length === 0;
    if (page === 'pulse') yield ': keep-alive\n\n';
    else if (page.length === 0) yield mark('caught-up', cursor);
    else {
      cursor = page.at(-1)?.cursor ?? cursor;
      yield page.map(({ cursor: id, data }) => `id: ${id}\ndata: ${JSON.stringify(data)}\n\n`).join('');
    }
  }
  // S2: no `end` if the stream was cut off, or stops at the end of the log for now.
  if (!signal.aborted && !caughtUp) yield mark('end', cursor);
}

const mark = (event: string, cursor: string) =>
  `id: ${cursor}\nevent: ${event}\ndata: ${JSON.stringify({ cursor })}\n\n`;

/** Each line `{ cursor, event }`, or a mark `{ cursor, mark }`. */
async function* toLines({
  start,
  pages,
  toNow = false,
  signal,
  keepAliveMs,
}: StreamOptions): AsyncGenerator<string> {
  const line = (value: object) => `${JSON.stringify(value)}\n`;
  yield line({ cursor: start, mark: 'begin' });
  let cursor = start;
  let caughtUp = false;
  for await (const page of withPulse(pages, keepAliveMs, signal)) {
    if (page !== 'pulse') caughtUp = toNow && page.length === 0;
    if (page === 'pulse') yield line({ cursor, mark: 'keep-alive' });
    else if (page.length === 0) yield line({ cursor, mark: 'caught-up' });
    else {
      cursor = page.at(-1)?.cursor ?? cursor;
      yield page.map((frame) => line({ cursor: frame.cursor, event: frame.data })).join('');
    }
  }
  if (!signal.aborted && !caughtUp) yield line({ cursor, mark: 'end' });
}

/** Yields `pulse` whenever no item has come for `everyMs` milliseconds. */
export async function* withPulse<T>(
  items: AsyncIterable<T>,
  everyMs: number,
  signal: AbortSignal,
): AsyncGenerator<T | 'pulse'> {
  const iterator = items[Symbol.asyncIterator]();
  let next = iterator.next();
  try {
    while (!signal.aborted) {
      const silence = defer<'pulse'>();
      const timer = setTimeout(() => silence.resolve('pulse'), everyMs);
      const found = await Promise.race([next, silence.promise]).finally(() => clearTimeout(timer));
      if (found === 'pulse') yield 'pulse';
      else if (found.done) return;
      else {
        // S3: the next page is read while this one is written.
        next = iterator.next();
        yield found.value;
      }
    }
  } finally {
    next.catch(() => undefined);
    await iterator.return?.();
  }
}

/** S3: a line is generated only when the reader takes it. */
export function toPullStream(lines: AsyncGenerator<string>, onClose: () => void): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await lines.next();
          if (!done) return controller.enqueue(ENCODER.encode(value));
          onClose();
          controller.close();
        } catch (error) {
          onClose();
          controller.error(error);
        }
      },
      async cancel() {
        onClose();
        await lines.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}
