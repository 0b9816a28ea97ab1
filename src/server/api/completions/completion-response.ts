/**
 * A completion as a response: chunks as server-sent events, or one object.
 * - A failure of the agent is answered with a status for which clients do not retry. If the connection must end
 *   before the answer, they may retry if a repeated request is the same message.
 */
import type { StoredError } from '../../../core/thread/step.ts';
import type { CompletionChunk, CompletionOutput } from '../../../projections/openai/completion-chunk.ts';
import { jsonResponse } from '../problem.ts';
import { type OpenStream, streamResponse, toSse } from '../stream.ts';
import { fateHeaders, type MessageFate } from '../turn/begin.ts';
import { toCompletionError } from './completion-error.ts';

export interface CompletionAnswer {
  readonly threadId: string;
  readonly pages: AsyncIterable<readonly CompletionOutput[]>;
  /** True if a repeated request is the same message. */
  readonly repeatable: boolean;
  readonly fate: MessageFate;
  /** Called once the whole answer was given to the connection. */
  readonly onDelivered: () => Promise<void>;
}

/** HTTP status if the agent could not answer. */
const UNANSWERED_STATUS = 422;
const THREAD_HEADER = 'x-thread-id';

export function streamCompletion(
  stream: OpenStream,
  answer: CompletionAnswer,
  includeUsage: boolean,
): Response {
  const { threadId, pages, fate, onDelivered } = answer;
  let failed = false;
  return streamResponse(stream, {
    headers: { [THREAD_HEADER]: threadId, ...fateHeaders(fate) },
    pages,
    toText(page) {
      failed ||= page.some((out) => 'failed' in out);
      const wanted = page.filter((out) => 'failed' in out || includeUsage || !out.usage);
      return wanted.map((out) => toSse('failed' in out ? toError(out.failed) : out)).join('');
    },
    last(isCut) {
      // A client takes a stream that just closes for a complete answer.
      if (failed) return '';
      return isCut
        ? toSse(toError({ code: 'Timeout', message: stillRunningText(answer) }))
        : 'data: [DONE]\n\n';
    },
    onDelivered,
  });
}

const toError = (failed: StoredError) => toCompletionError(failed, UNANSWERED_STATUS);

function stillRunningText({ threadId, repeatable }: CompletionAnswer): string {
  const more = repeatable ? 'send the same request again to read it' : `it will be in thread "${threadId}"`;
  return `The answer is not complete yet: ${more}.`;
}

export async function wholeCompletion(stream: OpenStream, answer: CompletionAnswer): Promise<Response> {
  const { threadId, pages, repeatable } = answer;
  const chunks: CompletionChunk[] = [];
  try {
    for await (const page of pages)
      for (const out of page) {
        if (!('failed' in out)) chunks.push(out);
        else {
          const headers = headersOf(threadId, false);
          return deliver(stream, answer, { body: toError(out.failed), status: UNANSWERED_STATUS, headers });
        }
      }
  } finally {
    stream.leave();
  }
  // The status decides whether clients retry.
  if (stream.signal.aborted) {
    const status = repeatable ? 504 : UNANSWERED_STATUS;
    const error = toCompletionError({ code: 'Timeout', message: stillRunningText(answer) }, status);
    return jsonResponse(error, status, headersOf(threadId, repeatable));
  }
  return deliver(stream, answer, { body: toWhole(chunks) });
}

interface Delivery {
  readonly body: object;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The body is a stream, so that its end is known. */
function deliver(
  stream: OpenStream,
  { threadId, fate, onDelivered }: CompletionAnswer,
  { body, status = 200, headers }: Delivery,
): Response {
  return streamResponse(stream, {
    type: 'application/json',
    status,
    headers: { [THREAD_HEADER]: threadId, ...fateHeaders(fate), ...headers },
    first: JSON.stringify(body),
    onDelivered,
  });
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
