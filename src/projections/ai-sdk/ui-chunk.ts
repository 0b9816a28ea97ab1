/**
 * The chunks of the AI SDK's UI message stream, as far as threads use them. Clients use one of three dialects but do
 * not state which, so the URL of the request names it.
 */

/** Major version of the client's package `ai`. 5 has no approvals; 5 and 6 cannot drop a step's parts. */
export type UiDialect = 5 | 6 | 7;

export const UI_DIALECTS: readonly UiDialect[] = [5, 6, 7];

export type UiFinish = 'stop' | 'content-filter' | 'tool-calls' | 'error';

/** A note about progress, which is not part of the message. */
export interface UiNote {
  readonly type: `data-${string}`;
  readonly data: unknown;
  readonly transient: true;
}

export type UiChunk =
  | { readonly type: 'start'; readonly messageId: string }
  | { readonly type: 'start-step' | 'finish-step' | 'reset-step' }
  | {
      readonly type: 'text-start' | 'reasoning-start';
      readonly id: string;
      readonly providerMetadata: { readonly everthread: { readonly part: string } };
    }
  | { readonly type: 'text-end'; readonly id: string }
  | { readonly type: 'text-delta'; readonly id: string; readonly delta: string }
  | { readonly type: 'reasoning-end'; readonly id: string }
  | { readonly type: 'reasoning-delta'; readonly id: string; readonly delta: string }
  | {
      readonly type: 'tool-input-start';
      readonly toolCallId: string;
      readonly toolName: string;
      readonly dynamic: true;
    }
  | { readonly type: 'tool-input-delta'; readonly toolCallId: string; readonly inputTextDelta: string }
  /** The call was not made. */
  | {
      readonly type: 'tool-input-error';
      readonly toolCallId: string;
      readonly toolName: string;
      readonly input: string;
      readonly errorText: string;
      readonly dynamic: true;
    }
  | {
      readonly type: 'tool-input-available';
      readonly toolCallId: string;
      readonly toolName: string;
      readonly input: unknown;
      readonly dynamic: true;
    }
  | {
      readonly type: 'tool-output-available';
      readonly toolCallId: string;
      readonly output: string;
      readonly dynamic: true;
    }
  | {
      readonly type: 'tool-output-error';
      readonly toolCallId: string;
      readonly errorText: string;
      readonly dynamic: true;
    }
  | { readonly type: 'tool-output-denied'; readonly toolCallId: string }
  | { readonly type: 'tool-approval-request'; readonly approvalId: string; readonly toolCallId: string }
  | {
      readonly type: 'steering-message';
      readonly id: string;
      readonly parts: readonly { readonly type: 'text'; readonly text: string }[];
    }
  /** A part that stays in the message; a later one with the same id replaces it. */
  | { readonly type: `data-${string}`; readonly id: string; readonly data: unknown }
  | UiNote
  | { readonly type: 'error'; readonly errorText: string }
  | { readonly type: 'abort'; readonly reason: string }
  | { readonly type: 'finish'; readonly finishReason: UiFinish };
