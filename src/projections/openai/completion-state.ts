/** What the reading of a completion knows between two rows. Plain JSON, as small as its open waits and the text of one step. */
import type { Said } from '../row-message.ts';
import type { CompletionCall, CompletionUsage } from './completion-chunk.ts';

export interface OpenCompletion {
  /** Of OpenAI's shape, made of the execution's. */
  readonly id: string;
  /** Seconds since 1970. */
  readonly created: number;
  /** What the reader has of the open step. */
  readonly told: string;
  /** What its present attempt has streamed: `<step>.<attempt>.<call>`, and the text. */
  readonly attempt: { readonly id: string; readonly text: string } | null;
  /** Some text of the answer was told, of whatever step. */
  readonly begun: boolean;
  /** The message before this row. */
  readonly said: Said | null;
  readonly usage: CompletionUsage;
  /** What is asked of people, in words, by the id of the wait. */
  readonly waits: Readonly<Record<string, string>>;
  /** Calls of the client's tools that have no result, by the id of the call. */
  readonly calls: Readonly<Record<string, CompletionCall['function']>>;
  /** The call that the client is to run now, by the id of the wait. */
  readonly clientWaits: Readonly<Record<string, string>>;
  /** It waits for a person, or for its client. */
  readonly waiting: boolean;
}

export interface CompletionReading {
  /** As the caller names it. */
  readonly model: string;
  /** Text is told once it is committed. */
  readonly whole: boolean;
  /** Null between executions. */
  readonly open: OpenCompletion | null;
}

export function beginCompletion(model: string, whole = false): CompletionReading {
  return { model, whole, open: null };
}

export function openCompletion(executionId: string, at: number): OpenCompletion {
  return {
    id: `chatcmpl-${executionId}`,
    created: Math.floor(at / 1_000_000),
    told: '',
    attempt: null,
    begun: false,
    said: null,
    usage: {
      prompt_tokens: 0,
      completion_tokens: 0,
      total_tokens: 0,
      prompt_tokens_details: { cached_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0 },
    },
    waits: {},
    calls: {},
    clientWaits: {},
    waiting: false,
  };
}
