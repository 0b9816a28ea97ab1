/** Reads server-sent events of an agent elsewhere as they arrive; an event that is too large ends the reading. */
import { RuntimeError } from '../core/value/error.ts';

/** Most characters of one event. */
const MAX_EVENT_CHARS = 4 * 1024 * 1024;

export async function* readFrames(body: ReadableStream<Uint8Array>): AsyncGenerator<unknown> {
  let rest = '';
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    const frames = (rest + text).split(/\r?\n\r?\n/);
    rest = frames.pop() ?? '';
    if (rest.length > MAX_EVENT_CHARS)
      throw new RuntimeError(
        'LimitExceeded',
        `The agent sent an event of more than ${MAX_EVENT_CHARS} characters.`,
      );
    for (const frame of frames) {
      const data = frame
        .split(/\r?\n/)
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice('data:'.length).trimStart());
      if (data.length > 0) yield JSON.parse(data.join('\n'));
    }
  }
}
