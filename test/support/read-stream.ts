/** Reads a stream of the API as any client could: SSE frames or NDJSON lines, as they arrive. */
import { setTimeout as delay } from 'node:timers/promises';

export interface Told {
  readonly id: string;
  /** `message` for a row, otherwise the mark. */
  readonly event: string;
  readonly data: unknown;
}

export interface ReadStream {
  readonly format: 'sse' | 'ndjson';
  readonly headers?: Readonly<Record<string, string>>;
  /** Receives every entry; true ends the reading. */
  readonly until: (told: Told) => boolean | Promise<boolean>;
  /** Receives the response before its body is read; true repeats the request. */
  readonly again?: (response: Response) => boolean;
}

const TYPES = { sse: 'text/event-stream', ndjson: 'application/x-ndjson' } as const;

export async function readStream(url: string, options: ReadStream): Promise<Told[]> {
  const { format, headers, until, again } = options;
  const leaving = new AbortController();
  const response = await fetch(url, {
    headers: { accept: TYPES[format], ...headers },
    signal: leaving.signal,
  });
  if (again?.(response)) {
    await response.body?.cancel();
    await delay(20);
    return readStream(url, options);
  }
  if (!response.ok || !response.body) throw new Error(`${response.status}: ${await response.text()}`);
  const told: Told[] = [];
  const cut = format === 'sse' ? '\n\n' : '\n';
  let rest = '';
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    const parts = (rest + text).split(cut);
    rest = parts.pop() ?? '';
    for (const part of parts) {
      const one = format === 'sse' ? readFrame(part) : readLine(part);
      if (!one) continue;
      told.push(one);
      if (!(await until(one))) continue;
      leaving.abort();
      return told;
    }
  }
  return told;
}

/** Null for an SSE comment. */
function readFrame(text: string): Told | null {
  const fields = new Map(
    text.split('\n').map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()] as const;
    }),
  );
  const data = fields.get('data');
  if (data === undefined) return null;
  return { id: fields.get('id') ?? '', event: fields.get('event') ?? 'message', data: JSON.parse(data) };
}

function readLine(text: string): Told | null {
  const { cursor, event, mark } = JSON.parse(text) as { cursor: string; event?: unknown; mark?: string };
  return mark === 'keep-alive' ? null : { id: cursor, event: mark ?? 'message', data: event };
}
