/** A response in the AI SDK's own form of server-sent events. It ends with `[DONE]` unless it was cut off. */
import type { UiChunk } from '../../../projections/ai-sdk/ui-chunk.ts';
import { toPullStream, withPulse } from '../stream.ts';

export interface ChatStream {
  readonly pages: AsyncIterable<readonly UiChunk[]>;
  readonly signal: AbortSignal;
  readonly onClose: () => void;
  readonly keepAliveMs: number;
  readonly headers: Readonly<Record<string, string>>;
}

export function chatResponse(stream: ChatStream): Response {
  return new Response(toPullStream(toFrames(stream), stream.onClose), {
    headers: {
      ...stream.headers,
      'content-type': 'text/event-stream; charset=utf-8',
      'x-vercel-ai-ui-message-stream': 'v1',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
    },
  });
}

async function* toFrames({ pages, signal, keepAliveMs }: ChatStream): AsyncGenerator<string> {
  // The headers are sent with the first bytes: at acceptance, not with the first token.
  yield ': stream-open\n\n';
  for await (const page of withPulse(pages, keepAliveMs, signal)) {
    if (page === 'pulse') yield ': keep-alive\n\n';
    else if (page.length > 0) yield page.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('');
  }
  if (!signal.aborted) yield 'data: [DONE]\n\n';
}
