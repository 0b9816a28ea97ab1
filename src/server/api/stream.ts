/**
 * A reading of a log as a response: server-sent events or lines of JSON, in the same order with the same cursors.
 * S1. The first frame has the cursor that the reading begins behind, before any event, so that whoever loses the connection at once goes on
 *     from there.
 * S2. `caught-up` says that there is no more for now, `end` that there will never be more. Neither is told by a closed connection.
 * S3. A stream is pulled: what a reader does not take is not read from the store for it.
 * S4. Each stream ends after a while by itself, so that deploys and balancers meet no immortals; the reader comes back with its cursor.
 */
import { defer } from '../../core/value/deferred.ts';

/** What one event is told as. */
export interface Frame {
  /** Where a reader goes on behind it. */
  readonly cursor: string;
  readonly data: unknown;
}

export interface StreamOptions {
  readonly format: 'sse' | 'ndjson';
  /** S1: the cursor that it begins behind. */
  readonly start: string;
  /** Frames in pages, as the log has them; an empty page says that it has no more for now. */
  readonly pages: AsyncIterable<readonly Frame[]>;
  /** The pages end with an empty one where the log only ends for now. */
  readonly toNow?: boolean;
  /** Ends it: a reader that left, a server that closes, a connection that is old. */
  readonly signal: AbortSignal;
  readonly onClose: () => void;
  readonly keepAliveMs: number;
}

const ENCODER = new TextEncoder();
/** Milliseconds until a reader comes back. */
const RETRY_MS = 1000;

export function streamResponse(options: StreamOptions): Response {
  const { format, onClose } = options;
  const lines = format === 'sse' ? toSse(options) : toLines(options);
  const body = pulled(lines, onClose);
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
  yield `retry: ${RETRY_MS}\nid: ${start}\nevent: open\ndata: ${JSON.stringify({ cursor: start })}\n\n`;
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
  // S2: whoever was cut off is not told that this is all, nor who wanted what there is.
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
  yield line({ cursor: start, mark: 'open' });
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

/** `pulse` where nothing came for so long. */
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
        // Read ahead by one page, while this one is written.
        next = iterator.next();
        yield found.value;
      }
    }
  } finally {
    next.catch(() => undefined);
    await iterator.return?.();
  }
}

/** S3: a line is made when the reader takes it. */
export function pulled(lines: AsyncGenerator<string>, onClose: () => void): ReadableStream<Uint8Array> {
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
