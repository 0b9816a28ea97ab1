/** The messages that a page of the AI SDK keeps (`UIMessage`), as far as threads have them. The same in 5, 6 and 7. */

export interface UiMessage {
  /** The execution's, as in its stream; the message's own if a user sent it. */
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly parts: readonly UiPart[];
}

export interface UiToolPart {
  readonly type: 'dynamic-tool';
  readonly toolName: string;
  readonly toolCallId: string;
  readonly state:
    | 'input-available'
    | 'approval-requested'
    | 'output-available'
    | 'output-error'
    | 'output-denied';
  readonly input: unknown;
  readonly output?: string;
  readonly errorText?: string;
  /** Dialect 5 has none. */
  readonly approval?: { readonly id: string; readonly approved?: boolean };
}

export type UiPart =
  | { readonly type: 'step-start' }
  | { readonly type: 'text'; readonly text: string; readonly state?: 'done' }
  | {
      readonly type: 'file';
      readonly mediaType: string;
      readonly filename?: string;
      /** An address of this server, valid for an hour. */
      readonly url: string;
    }
  | UiToolPart
  /** A user's message that joined the execution; dialect 7. */
  | {
      readonly type: 'steering-message';
      readonly id: string;
      readonly parts: readonly { readonly type: 'text'; readonly text: string }[];
    }
  | { readonly type: `data-${string}`; readonly id: string; readonly data: unknown };
