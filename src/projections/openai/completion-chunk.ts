/**
 * A chunk of OpenAI's Chat Completions, as far as a thread tells them. Their readers take text as it comes and cannot take any of it back.
 */
import type { StoredError } from '../../core/thread/step.ts';

export type CompletionFinish = 'stop' | 'length' | 'tool_calls';

export interface CompletionDelta {
  readonly role?: 'assistant';
  readonly content?: string;
  readonly tool_calls?: readonly CompletionCall[];
}

/** A call that the client is to run. */
export interface CompletionCall {
  readonly index: number;
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

export interface CompletionUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details: { readonly cached_tokens: number };
  readonly completion_tokens_details: { readonly reasoning_tokens: number };
}

export interface CompletionChunk {
  readonly id: string;
  readonly object: 'chat.completion.chunk';
  /** Seconds since 1970. */
  readonly created: number;
  readonly model: string;
  /** One, or none in the chunk that tells the usage. */
  readonly choices: readonly {
    readonly index: 0;
    readonly delta: CompletionDelta;
    readonly finish_reason: CompletionFinish | null;
  }[];
  readonly usage?: CompletionUsage;
  /** Not OpenAI's: the text before this chunk that was given up, and that this one's replaces. */
  readonly everthread?: { readonly discarded: string };
}

/** What ends an answer that could not be given. */
export interface CompletionFailure {
  readonly failed: StoredError;
}

export type CompletionOut = CompletionChunk | CompletionFailure;
