/**
 * Streams of a thread as responses: text that comes over time, mostly server-sent events.
 * - The headers are sent with the first text: at acceptance, not with the first event.
 * - A stream is pulled: its pages are read at most one ahead of the reader.
 * - Each stream ends by itself after a while, so that deployments and load balancers can drain.
 */
import { defer } from '../../core/value/deferred.ts';
import { RuntimeError } from '../../core/value/error.ts';
import type { ApiHost } from './host.ts';

/** Milliseconds of silence before a stream sends a keep-alive. */
export const KEEP_ALIVE_MS = 15_000;

/** A stream that counts against the limits until it has left. */
export interface OpenStream {
  /** Fires when the reader has left, the server closes, or the stream is too old. */
  readonly signal: AbortSignal;
  leave(): void;
}

/** Throws `TooManyStreams`. */
export function openStream(
  { streams }: Pick<ApiHost, 'streams'>,
  threadId: string,
  signal?: AbortSignal,
): OpenStream {
  const place = streams.enter(threadId);
  if (!place)
    throw new RuntimeError('TooManyStreams', 'The limit of open streams is reached: try again later.');
  const { signal: ends, leave } = place;
  return { signal: signal ? AbortSignal.any([ends, signal]) : ends, leave };
}

/**
 * Opens a stream before `work` stores anything, and frees its place if that fails: what is stored before a refusal
 * would be sent again. Throws `TooManyStreams`.
 */
export async function openStreamFor<T>(
  host: Pick<ApiHost, 'streams'>,
  threadId: string,
  { signal }: Request,
  work: () => Promise<T>,
): Promise<readonly [OpenStream, T]> {
  const stream = openStream(host, threadId, signal);
  try {
    return [stream, await work()];
  } catch (error) {
    stream.leave();
    throw error;
  }
}

export interface StreamText<Page> {
  /** Content type; server-sent events unless given. */
  readonly type?: string;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A comment unless given. */
  readonly first?: string;
  readonly pages?: AsyncIterable<Page>;
  readonly toText?: (page: Page) => string | Promise<string>;
  /** Text after each `KEEP_ALIVE_MS` of silence; a comment unless given. */
  readonly keepAlive?: () => string;
  /** Text after the last page. `isCut`: the stream ends before its pages do. */
  readonly last?: (isCut: boolean) => string | Promise<string>;
  /** Called once everything was given to the connection. */
  readonly onDelivered?: () => Promise<void>;
}

const ENCODER = new TextEncoder();

export function streamResponse<Page>(stream: OpenStream, text: StreamText<Page>): Response {
  const { type = 'text/event-stream; charset=utf-8', status = 200, headers } = text;
  return new Response(toPullStream(toTexts(stream, text), stream.leave), {
    status,
    headers: {
      'content-type': type,
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
      ...headers,
    },
  });
}

/** Returns one event of a stream of server-sent events. */
export function toSse(data: unknown, id?: string, event?: string): string {
  const [own, kind] = [id === undefined ? '' : `id: ${id}\n`, event === undefined ? '' : `event: ${event}\n`];
  return `${own}${kind}data: ${JSON.stringify(data)}\n\n`;
}

async function* toTexts<Page>({ signal }: OpenStream, text: StreamText<Page>): AsyncGenerator<string> {
  const { first = ': stream-open\n\n', pages, toText, last, keepAlive = () => ': keep-alive\n\n' } = text;
  yield first;
  if (pages && toText)
    for await (const page of withPulse(pages, signal)) {
      const written = page === 'pulse' ? keepAlive() : await toText(page);
      if (written !== '') yield written;
    }
  const end = await last?.(signal.aborted);
  if (end) yield end;
  if (!signal.aborted) await text.onDelivered?.();
}

/** Yields `pulse` whenever no page has come for `KEEP_ALIVE_MS`. */
async function* withPulse<Page>(
  pages: AsyncIterable<Page>,
  signal: AbortSignal,
): AsyncGenerator<Page | 'pulse'> {
  const iterator = pages[Symbol.asyncIterator]();
  let next = iterator.next();
  try {
    while (!signal.aborted) {
      const silence = defer<'pulse'>();
      const timer = setTimeout(() => silence.resolve('pulse'), KEEP_ALIVE_MS);
      const found = await Promise.race([next, silence.promise]).finally(() => clearTimeout(timer));
      if (found === 'pulse') yield 'pulse';
      else if (found.done) return;
      else {
        // The next page is read while this one is written.
        next = iterator.next();
        yield found.value;
      }
    }
  } finally {
    next.catch(() => undefined);
    await iterator.return?.();
  }
}

/** A text is made only when the reader takes it. */
function toPullStream(texts: AsyncGenerator<string>, onClose: () => void): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await texts.next();
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
        await texts.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}
