/**
 * The chunks of OpenAI's Chat Completions, as far as threads use them. Clients append text as it comes, so no text can
 * be withdrawn.
 */
import type { StoredError } from '../../core/thread/step.ts';

export type CompletionFinish = 'stop' | 'length' | 'tool_calls' | 'content_filter';

export interface CompletionDelta {
  readonly role?: 'assistant';
  readonly content?: string;
  readonly tool_calls?: readonly CompletionCall[];
}

/** A call that the client must run. */
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
  /** One choice; none in the chunk with the usage. */
  readonly choices: readonly {
    readonly index: 0;
    readonly delta: CompletionDelta;
    readonly finish_reason: CompletionFinish | null;
  }[];
  readonly usage?: CompletionUsage;
  /** An extension of OpenAI's format: the earlier text that is void, and that the text of this chunk replaces. */
  readonly everthread?: { readonly discarded: string };
}

/** Ends a completion that has failed. */
export interface CompletionFailure {
  readonly failed: StoredError;
}

export type CompletionOutput = CompletionChunk | CompletionFailure;
