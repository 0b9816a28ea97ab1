/**
 * The events of AG-UI 1.0, as far as threads use them. The API adds the ids of the thread and the run to the first and
 * last event of a run.
 */

export interface AgUiInterrupt {
  /** The wait's id. */
  readonly id: string;
  readonly reason: string;
  readonly message: string;
  readonly toolCallId?: string;
  /** JSON Schema of the payload that answers it. */
  readonly responseSchema: Readonly<Record<string, unknown>>;
  /** ISO 8601. */
  readonly expiresAt?: string;
  readonly metadata: { readonly kind: string; readonly name: string; readonly threadId?: string };
}

export type AgUiOutcome =
  | { readonly type: 'success' }
  | { readonly type: 'cancelled' }
  | { readonly type: 'interrupt'; readonly interrupts: readonly AgUiInterrupt[] };

export interface AgUiUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly cachedInputTokens: number;
  readonly reasoningTokens: number;
}

/** A message as its client has sent it. */
export interface SentMessage {
  readonly id: string;
}

export type AgUiEvent =
  | { readonly type: 'RUN_STARTED' }
  /** Placeholder for all messages of the thread up to `upTo` (microseconds since 1970): the API inserts them, and behind them those in line. */
  | { readonly type: 'MESSAGES_SNAPSHOT'; readonly upTo: number; readonly queued?: readonly SentMessage[] }
  | { readonly type: 'STEP_STARTED' | 'STEP_FINISHED'; readonly stepName: string }
  | { readonly type: 'TEXT_MESSAGE_START'; readonly messageId: string; readonly role: 'assistant' | 'user' }
  | { readonly type: 'TEXT_MESSAGE_CONTENT'; readonly messageId: string; readonly delta: string }
  | { readonly type: 'TEXT_MESSAGE_END'; readonly messageId: string }
  | { readonly type: 'REASONING_START' | 'REASONING_END'; readonly messageId: string }
  | { readonly type: 'REASONING_MESSAGE_START'; readonly messageId: string; readonly role: 'reasoning' }
  | { readonly type: 'REASONING_MESSAGE_CONTENT'; readonly messageId: string; readonly delta: string }
  | { readonly type: 'REASONING_MESSAGE_END'; readonly messageId: string }
  | {
      readonly type: 'TOOL_CALL_START';
      readonly toolCallId: string;
      readonly toolCallName: string;
      readonly parentMessageId?: string;
    }
  | { readonly type: 'TOOL_CALL_ARGS'; readonly toolCallId: string; readonly delta: string }
  | { readonly type: 'TOOL_CALL_END'; readonly toolCallId: string }
  | {
      readonly type: 'TOOL_CALL_RESULT';
      readonly messageId: string;
      readonly toolCallId: string;
      readonly content: string;
      readonly role: 'tool';
    }
  | {
      readonly type: 'SUBAGENT_STARTED';
      readonly subagentRunId: string;
      readonly name: string;
      readonly parentToolCallId?: string;
    }
  | {
      readonly type: 'SUBAGENT_FINISHED';
      readonly subagentRunId: string;
      /** `suspended`: the subagent continues after the run. */
      readonly outcome: { readonly type: 'success' | 'suspended' };
    }
  | { readonly type: 'SUBAGENT_ERROR'; readonly subagentRunId: string; readonly message: string }
  | { readonly type: 'CUSTOM'; readonly name: string; readonly value: unknown }
  | {
      readonly type: 'RUN_ERROR';
      readonly message: string;
      readonly code: string;
      readonly usage: readonly AgUiUsage[];
    }
  | { readonly type: 'RUN_FINISHED'; readonly outcome: AgUiOutcome; readonly usage: readonly AgUiUsage[] };
