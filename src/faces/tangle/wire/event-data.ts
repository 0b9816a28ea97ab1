/** Reads the data of server-sent events as they come, up to a bound: senders are not trusted to end a line. */
import { LIMITS } from '../../../core/value/limit.ts';
import { BackendTransportError } from '../failure.ts';

/** Yields data without comments and `[DONE]`. A line of JSON without `data:` is data, too, as in NDJSON. */
export async function* eventData(
  response: Response,
  backend: string,
  signal?: AbortSignal,
): AsyncGenerator<string> {
  const reader = response.body?.getReader();
  if (!reader) return;
  const decoder = new TextDecoder();
  let rest = '';
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause: unknown) => {
        signal?.throwIfAborted();
        throw new BackendTransportError('The answer was interrupted.', { backend, status: 0 }, { cause });
      });
      bytes += value?.length ?? 0;
      const lines = (rest + decoder.decode(value, { stream: !done })).split(/\r\n|\n|\r/);
      rest = done ? '' : (lines.pop() ?? '');
      for (const line of lines) {
        const data = dataOf(line);
        if (data !== null) yield data;
      }
      if (done) return;
      if (bytes > LIMITS.answerStreamBytes || rest.length > LIMITS.answerEventBytes)
        throw new BackendTransportError('The answer is too long.', { backend, status: response.status });
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

function dataOf(line: string): string | null {
  const text = line.startsWith('data:') ? line.slice('data:'.length).trim() : line.trim();
  if (text === '' || text === '[DONE]') return null;
  return line.startsWith('data:') || text.startsWith('{') ? text : null;
}
