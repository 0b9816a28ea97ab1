/**
 * Requests to models as their providers received them: what a command is given of one, its rows, and what readers get.
 */
import type { Side } from '../../core/author/thread-execution.ts';
import type { ContextMessage } from '../../core/context/context.ts';
import type { MessageOrigins } from '../../core/context/message-origin.ts';
import type { ProviderRequest, ProviderUsage } from '../../core/message/provider.ts';

/** A request that was sent, and what it was made of. */
export interface SentRequest {
  /**
   * The conversation that it goes on with: the side, the prompt, and the purpose if it does not ask for the answer of
   * its step. Requests of one chain share their messages.
   */
  readonly chain: string;
  /** Name of the provider's factory; empty if it has none. */
  readonly provider: string;
  readonly request: ProviderRequest;
  readonly origins: MessageOrigins;
  /** The stored messages that were read for it, as the store has them. */
  readonly stored: readonly ContextMessage[];
  /** True if the first message is the rendered prompt, which quotes no message. */
  readonly ownPrompt: boolean;
  /** Removes secrets from the texts of a value of JSON. Default: the request shows none. */
  readonly redact?: (value: unknown) => unknown;
}

/**
 * A text of requests, once for its thread: a system message, the tools, the options, and messages whose text is in no
 * stored message.
 */
export interface RequestTextTable {
  thread_id: string;
  /** Digest of the text. */
  digest: string;
  /** Null once what it shows was changed or deleted (`gap`). */
  body: string | null;
  /** The stored message that it shows; null if it shows none. */
  message_id: string | null;
  /** 1 if it may quote any message that was stored before it. */
  quotes: number;
  created_at: number;
  gap: GapReason | null;
}

export type GapReason = 'deleted' | 'edited';

/**
 * `kept`: it can be read. `open`: the call has not ended. `lost`: its worker was lost, or its thread terminated, before
 * it ended. `removed`: it was kept for the configured number of days. `off`: requests were not kept, or the call failed
 * before its request was made.
 */
export type RequestState = 'kept' | 'open' | 'lost' | 'removed' | 'off';

/** What a call is for: an answer of the thread or of a sub-prompt, a summary, the first message of a subagent. */
export type ModelCallKind = 'step' | 'sub_prompt' | 'summary' | 'bootstrap';

/** One request to one model. */
export interface ModelCallRecord {
  /** `step.attempt.call`. */
  readonly id: string;
  readonly step: number;
  /** Attempt at the step by a worker. */
  readonly attempt: number;
  /** Number of the request within that attempt. */
  readonly call: number;
  readonly kind: ModelCallKind;
  readonly side: Side;
  /** The following three are null unless the request is kept. */
  readonly prompt: string | null;
  /** Number of messages. */
  readonly messages: number | null;
  /** Size of the request as JSON. */
  readonly bytes: number | null;
  /** Name of the provider's factory; null if it has none, or the request is not kept. */
  readonly provider: string | null;
  /** Name of the model's definition, and the provider's own id. */
  readonly model: string;
  readonly modelId: string;
  readonly status: 'started' | 'ok' | 'error' | 'lost';
  /** Microseconds since 1970. */
  readonly startedAt: number;
  readonly firstTokenAt: number | null;
  readonly endedAt: number | null;
  readonly usage: ProviderUsage | null;
  /** US dollars; null if no price is known. */
  readonly cost: number | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly request: RequestState;
}

export interface ListModelCalls {
  /** The id of a call: only calls after it, in the order of the list. */
  readonly after?: string;
  /** By step, attempt and number; default `asc`. */
  readonly order?: 'asc' | 'desc';
  /** Default 100. */
  readonly limit?: number;
}

export interface RequestGap {
  /** Index among the messages of the request; its message has a role and no content. */
  readonly position: number;
  readonly reason: GapReason;
}

export interface RequestChange {
  /** Index among the messages of the request; of the previous one, if the message was removed. */
  readonly position: number;
  readonly change: 'added' | 'removed' | 'changed';
}

/** The request of one call. */
export interface ShownRequest {
  readonly id: string;
  /**
   * The ProviderRequest with its keys in order. Images, files and what providers want back with their answers are
   * `{ digest, bytes }`.
   */
  readonly request: Readonly<Record<string, unknown>>;
  readonly gaps: readonly RequestGap[];
  /** Bytes as JSON; what is shown as a digest counts with its own size. */
  readonly sizes: {
    readonly system: number;
    readonly tools: number;
    readonly messages: number;
    readonly options: number;
  };
  /** The call whose request came before it in the same conversation; null for the first one. */
  readonly changedFrom: string | null;
  /** How its messages differ from that request. */
  readonly diff: readonly RequestChange[];
}
