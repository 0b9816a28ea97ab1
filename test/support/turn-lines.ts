/** Reads the lines of a chat turn as a client does. */
import type { ChatTurnLine } from '../../src/faces/tangle/index.ts';

export type Line = ChatTurnLine & { readonly id?: string; readonly data: Readonly<Record<string, unknown>> };

/** Reads to the end, or until `leave` returns true, which cancels the stream. */
export async function readLines(
  body: ReadableStream<Uint8Array>,
  leave: (line: Line) => boolean = () => false,
): Promise<Line[]> {
  const lines: Line[] = [];
  let rest = '';
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    for (const part of parts) {
      const line = JSON.parse(part) as Line;
      lines.push(line);
      if (leave(line)) return lines;
    }
  }
  return lines;
}
