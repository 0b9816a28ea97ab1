/**
 * A completion as a response: chunks as server-sent events, or one object.
 * R1. A failure of the agent is answered with a status for which clients do not retry. If the connection must end
 *     before the answer, they may retry if a repeated request is the same message.
 */
import type { CompletionChunk, CompletionOutput } from '../../../projections/openai/completion-chunk.ts';
import { fateHeaders, type MessageFate } from '../chat/chat-begin.ts';
import { jsonResponse, SAFE_HEADERS } from '../problem.ts';
import { toPullStream, withPulse } from '../stream.ts';
import { toCompletionError } from './completion-error.ts';

export interface CompletionAnswer {
  readonly threadId: string;
  readonly pages: AsyncIterable<readonly CompletionOutput[]>;
  readonly signal: AbortSignal;
  readonly onClose: () => void;
  /** True if a repeated request is the same message. */
  readonly repeatable: boolean;
  readonly fate: MessageFate;
  /** Called once the whole answer was given to the connection. */
  readonly onDelivered: () => Promise<void>;
}

/** HTTP status if the agent could not answer. */
const UNANSWERED_STATUS = 422;
const THREAD_HEADER = 'x-thread-id';

export interface CompletionStream extends CompletionAnswer {
  readonly keepAliveMs: number;
  readonly includeUsage: boolean;
}

export function streamCompletion(stream: CompletionStream): Response {
  return new Response(toPullStream(toFrames(stream), stream.onClose), {
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      [THREAD_HEADER]: stream.threadId,
      ...fateHeaders(stream.fate),
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
    },
  });
}

async function* toFrames(stream: CompletionStream): AsyncGenerator<string> {
  const { pages, signal, keepAliveMs, includeUsage } = stream;
  // The headers are sent with the first bytes: at acceptance, not with the first token.
  yield ': stream-open\n\n';
  for await (const page of withPulse(pages, keepAliveMs, signal)) {
    if (page === 'pulse') {
      yield ': keep-alive\n\n';
      continue;
    }
    const wanted = page.filter((out) => 'failed' in out || includeUsage || !out.usage);
    if (wanted.length > 0) yield wanted.map(toFrame).join('');
    if (page.some((out) => 'failed' in out)) return stream.onDelivered();
  }
  // A client takes a stream that just closes for a complete answer.
  if (signal.aborted) yield toFrame({ failed: { code: 'Timeout', message: stillRunningText(stream) } });
  else {
    yield 'data: [DONE]\n\n';
    await stream.onDelivered();
  }
}

function toFrame(out: CompletionOutput): string {
  const data = 'failed' in out ? toCompletionError(out.failed, UNANSWERED_STATUS) : out;
  return `data: ${JSON.stringify(data)}\n\n`;
}

function stillRunningText({ threadId, repeatable }: CompletionAnswer): string {
  const more = repeatable ? 'send the same request again to read it' : `it will be in thread "${threadId}"`;
  return `The answer is not complete yet: ${more}.`;
}

export async function wholeCompletion(answer: CompletionAnswer): Promise<Response> {
  const { threadId, pages, signal, onClose, repeatable } = answer;
  const chunks: CompletionChunk[] = [];
  try {
    for await (const page of pages)
      for (const out of page) {
        if (!('failed' in out)) chunks.push(out);
        else {
          const error = toCompletionError(out.failed, UNANSWERED_STATUS);
          return deliver(answer, error, UNANSWERED_STATUS, headersOf(threadId, false));
        }
      }
  } finally {
    onClose();
  }
  // R1: the status decides whether clients retry.
  if (signal.aborted) {
    const status = repeatable ? 504 : UNANSWERED_STATUS;
    const error = toCompletionError({ code: 'Timeout', message: stillRunningText(answer) }, status);
    return jsonResponse(error, status, headersOf(threadId, repeatable));
  }
  return deliver(answer, toWhole(chunks), 200, { [THREAD_HEADER]: threadId });
}

/** The body is a stream, so that its end is known. */
function deliver(
  answer: CompletionAnswer,
  body: object,
  status: number,
  headers: Readonly<Record<string, string>>,
): Response {
  async function* lines() {
    yield JSON.stringify(body);
    await answer.onDelivered();
  }
  return new Response(
    toPullStream(lines(), () => {}),
    {
      status,
      headers: {
        'content-type': 'application/json',
        ...SAFE_HEADERS,
        ...fateHeaders(answer.fate),
        ...headers,
      },
    },
  );
}

/** OpenAI's own clients decide by `x-should-retry` whether to retry. */
function headersOf(threadId: string, again: boolean): Readonly<Record<string, string>> {
  return { [THREAD_HEADER]: threadId, 'x-should-retry': String(again) };
}

function toWhole(chunks: readonly CompletionChunk[]) {
  const { id = '', created = 0, model = '' } = chunks.at(-1) ?? {};
  const choices = chunks.flatMap((chunk) => chunk.choices);
  const content = choices.map(({ delta }) => delta.content ?? '').join('');
  const calls = choices.flatMap(({ delta }) => delta.tool_calls ?? []).map(({ index: _, ...call }) => call);
  const finish = choices.at(-1)?.finish_reason ?? 'stop';
  return {
    id,
    object: 'chat.completion',
    created,
    model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: content === '' && calls.length > 0 ? null : content,
          refusal: null,
          ...(calls.length > 0 ? { tool_calls: calls } : {}),
        },
        logprobs: null,
        finish_reason: finish,
      },
    ],
    usage: chunks.at(-1)?.usage,
  };
}
