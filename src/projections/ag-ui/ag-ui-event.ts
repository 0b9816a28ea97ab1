/** An event of AG-UI 1.0, as far as a thread tells them. A run's own two ids are put to its first and last ones by who answers the request. */

export interface AgUiInterrupt {
  /** Of the wait. */
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

export type AgUiEvent =
  | { readonly type: 'RUN_STARTED' }
  /** Stands for all messages of the thread up to this time, in microseconds: whoever tells it reads them. */
  | { readonly type: 'MESSAGES_SNAPSHOT'; readonly upTo: number }
  | { readonly type: 'STEP_STARTED' | 'STEP_FINISHED'; readonly stepName: string }
  | { readonly type: 'TEXT_MESSAGE_START'; readonly messageId: string; readonly role: 'assistant' | 'user' }
  | { readonly type: 'TEXT_MESSAGE_CONTENT'; readonly messageId: string; readonly delta: string }
  | { readonly type: 'TEXT_MESSAGE_END'; readonly messageId: string }
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
      /** Suspended: it goes on behind the run. */
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
