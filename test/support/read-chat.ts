/** Reads a response in the AI SDK's UI message stream, and assembles its text as a page with `useChat` does. */
import { expect } from '@jest/globals';

// biome-ignore lint/suspicious/noExplicitAny: any chunk of the stream
export type Chunk = any;

export interface ChatAnswer {
  readonly status: number;
  readonly chunks: readonly Chunk[];
  /** True if the response was read to its end. */
  readonly done: boolean;
}

export interface AskChat {
  readonly method?: 'GET' | 'POST';
  readonly body?: unknown;
  /** Receives every chunk; true aborts the request. */
  readonly leave?: (chunk: Chunk) => boolean;
}

export async function askChat(url: string, { method = 'POST', body, leave }: AskChat): Promise<ChatAnswer> {
  const leaving = new AbortController();
  const response = await fetch(url, {
    method,
    ...(body === undefined
      ? {}
      : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    signal: leaving.signal,
  });
  if (!response.body || response.status !== 200)
    return { status: response.status, chunks: [await response.text()], done: true };
  expect(response.headers.get('x-vercel-ai-ui-message-stream')).toBe('v1');
  const chunks: Chunk[] = [];
  let rest = '';
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    const parts = (rest + text).split('\n\n');
    rest = parts.pop() ?? '';
    for (const part of parts) {
      if (!part.startsWith('data: ')) continue;
      if (part === 'data: [DONE]') return { status: 200, chunks, done: true };
      const chunk = JSON.parse(part.slice('data: '.length));
      chunks.push(chunk);
      if (!leave?.(chunk)) continue;
      leaving.abort();
      return { status: 200, chunks, done: false };
    }
  }
  return { status: 200, chunks, done: false };
}

/**
 * Joins the texts of parts, in order, without discarded ones. Expects each part to be opened once, written, and closed.
 */
export function textOf(chunks: readonly Chunk[]): string {
  const texts = new Map<string, string>();
  const open = new Set<string>();
  for (const { type, id, delta, data } of chunks) {
    if (type === 'text-start') {
      expect(texts.has(id)).toBe(false);
      texts.set(id, '');
      open.add(id);
    } else if (type === 'text-delta') {
      expect(open.has(id)).toBe(true);
      texts.set(id, texts.get(id) + delta);
    } else if (type === 'text-end') expect(open.delete(id)).toBe(true);
    else if (type === 'reset-step') for (const each of open) if (open.delete(each)) texts.delete(each);
    if (type === 'data-attempt') for (const each of data.discarded) texts.delete(each);
  }
  return [...texts.values()].join('|');
}

export const typesOf = (chunks: readonly Chunk[]) => chunks.map(({ type }) => type as string);
