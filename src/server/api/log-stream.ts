/**
 * A log as a stream: server-sent events or lines of JSON, in the same order with the same cursors.
 * - The first frame has the cursor that the stream begins behind. It comes before any event, so that a reader that
 *   loses the connection at once resumes from there.
 * - `caught-up` marks the end of the log for now, `end` its final end. A closed connection means neither.
 */
import type { ApiHost } from './host.ts';
import { SAFE_HEADERS } from './problem.ts';
import { openStream, streamResponse, toSse } from './stream.ts';

/** One event of a stream. */
export interface Frame {
  /** A reader resumes behind this cursor. */
  readonly cursor: string;
  readonly data: unknown;
}

export interface LogReading {
  readonly request: Request;
  readonly threadId: string;
  readonly format: 'sse' | 'ndjson';
  /** The cursor that the stream begins behind. */
  readonly start: string;
  /** False: the stream stops at the end of the log for now. */
  readonly follow: boolean;
  /** True if the log gets no more rows. */
  readonly isComplete: boolean;
  /** Pages of frames, in the order of the log; an empty page marks the end of the log for now. */
  readonly pages: (how: {
    readonly follow: boolean | 'marked';
    readonly signal?: AbortSignal;
  }) => AsyncIterable<readonly Frame[]>;
}

export const NDJSON_TYPE = 'application/x-ndjson; charset=utf-8';
/** Milliseconds after which a reader reconnects. */
const RETRY_MS = 1000;

/** Returns the form of a log that a request accepts. */
export function formatOf({ headers }: Request): 'json' | 'sse' | 'ndjson' {
  const accept = headers.get('accept') ?? '';
  if (accept.includes('text/event-stream')) return 'sse';
  return accept.includes('application/x-ndjson') ? 'ndjson' : 'json';
}

/** Returns the cursor that a reader resumes behind: after a reconnect the header has a newer one than the query. */
export function resumeCursor({ headers }: Request, query: string | undefined): string | undefined {
  return headers.get('last-event-id') ?? query;
}

/** Throws `TooManyStreams`. */
export async function logResponse(host: ApiHost, reading: LogReading): Promise<Response> {
  const { request, threadId, format, start, follow, isComplete, pages } = reading;
  if ((isComplete || !follow) && format === 'sse' && (await isReadToEnd(reading)))
    return new Response(null, { status: 204, headers: SAFE_HEADERS });
  const stream = openStream(host, threadId, request.signal);
  const { signal } = stream;
  const write = format === 'sse' ? SSE : NDJSON;
  let [cursor, isAtEnd] = [start, false];
  return streamResponse(stream, {
    ...(format === 'ndjson' && { type: NDJSON_TYPE }),
    first: (format === 'sse' ? `retry: ${RETRY_MS}\n` : '') + write.mark('begin', start),
    pages: pages({ follow: !isComplete && (follow || 'marked'), signal }),
    keepAlive: () => write.keepAlive(cursor),
    toText(page) {
      isAtEnd = !follow && page.length === 0;
      cursor = page.at(-1)?.cursor ?? cursor;
      return page.length === 0 ? write.mark('caught-up', cursor) : page.map(write.frame).join('');
    },
    // No `end` if the stream was cut off, or stops at the end of the log for now.
    last: (isCut) => (isCut || isAtEnd ? '' : write.mark('end', cursor)),
  });
}

/** True for an EventSource behind the end of a complete log, which would reconnect for ever: 204 stops it. */
async function isReadToEnd({ request, pages }: LogReading): Promise<boolean> {
  if (!request.headers.has('last-event-id')) return false;
  for await (const page of pages({ follow: false })) if (page.length > 0) return false;
  return true;
}

const SSE = {
  mark: (event: string, cursor: string) => toSse({ cursor }, cursor, event),
  frame: ({ cursor, data }: Frame) => toSse(data, cursor),
  keepAlive: () => ': keep-alive\n\n',
};

/** Each line `{ cursor, event }`, or a mark `{ cursor, mark }`. */
const NDJSON = {
  mark: (mark: string, cursor: string) => toJsonLine({ cursor, mark }),
  frame: ({ cursor, data: event }: Frame) => toJsonLine({ cursor, event }),
  keepAlive: (cursor: string) => toJsonLine({ cursor, mark: 'keep-alive' }),
};

export const toJsonLine = (value: object) => `${JSON.stringify(value)}\n`;
