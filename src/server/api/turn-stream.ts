/**
 * Streams the events of one execution as a response: server-sent events or lines of JSON, each `{ type, data }` with
 * its cursor as `id`. The last event says how the execution has ended; a stream that was cut off lacks it, and is
 * resumed behind its last cursor.
 */
import type { Projected } from '../../projections/projection.ts';
import { toPullStream, withPulse } from './stream.ts';

interface TurnEvent {
  readonly type: string;
  readonly data?: object;
}

export interface TurnStream {
  readonly format: 'sse' | 'ndjson';
  readonly executionId: string;
  /** An empty page marks the end of the log for now. */
  readonly pages: AsyncIterable<readonly Projected<TurnEvent>[]>;
  readonly signal: AbortSignal;
  readonly onClose: () => void;
  readonly keepAliveMs: number;
}

export function turnResponse(stream: TurnStream): Response {
  const { format, executionId, onClose } = stream;
  const type = format === 'sse' ? 'text/event-stream' : 'application/x-ndjson';
  return new Response(toPullStream(toText(stream), onClose), {
    headers: {
      'content-type': `${type}; charset=utf-8`,
      'x-execution-id': executionId,
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
    },
  });
}

async function* toText({ format, pages, signal, keepAliveMs }: TurnStream): AsyncGenerator<string> {
  const encode = format === 'sse' ? toFrame : toLine;
  // The headers are sent with the first bytes: at acceptance, not with the first event.
  yield KEEP_ALIVE[format];
  for await (const page of withPulse(pages, keepAliveMs, signal)) {
    if (page === 'pulse') yield KEEP_ALIVE[format];
    else if (page.length > 0) yield page.map(encode).join('');
  }
}

/** A keep-alive, which readers ignore. */
const KEEP_ALIVE = { sse: ': keep-alive\n\n', ndjson: '\n' } as const;

function toFrame({ cursor, event }: Projected<TurnEvent>): string {
  return `id: ${cursor}\ndata: ${JSON.stringify(event)}\n\n`;
}

function toLine({ cursor, event }: Projected<TurnEvent>): string {
  return `${JSON.stringify({ ...event, id: cursor })}\n`;
}
