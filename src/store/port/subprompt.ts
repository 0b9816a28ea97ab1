/** Commands of a sub-prompt's step (definitions §12.6), and what they answer. Its answer is stored by `steps.commit`. */

import type { FlowDirective } from '../../core/author/thread-execution.ts';
import type { AttachmentRef, ToolStatus } from '../../core/message/message.ts';
import type { ToolItem } from '../../core/thread/item.ts';
import type { StoredError } from '../../core/thread/step.ts';
import type { StepRecord } from './step.ts';
import type { QueuedTool, ToolCallKey } from './tool.ts';

export interface OpenSubprompt extends ToolCallKey {
  readonly prompt: string;
  /** Checked. */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The id that the call's tool message will have, where it has been given none yet. */
  readonly parentId: string;
  /** Its first message; none where the call brings none. */
  readonly message?: {
    readonly id: string;
    readonly content: string;
    readonly attachments: readonly AttachmentRef[];
    readonly silent?: boolean;
    readonly metadata?: Readonly<Record<string, unknown>>;
  };
  /** Tools that the hooks of that message queued. */
  readonly queuedTools?: readonly QueuedTool[];
}

export type OpenedSubprompt =
  | { readonly kind: 'terminated' }
  /** The call has its result, or the step its end: there is nothing to ask. */
  | { readonly kind: 'over' }
  /** The execution's budget denies the step; nothing of it is stored. */
  | { readonly kind: 'exceeded'; readonly error: StoredError }
  | { readonly kind: 'stored'; readonly record: StepRecord }
  | { readonly kind: 'call'; readonly step: number; readonly attempt: number };

/** The calls that come before the model step of a sub-prompt (runtime §7.3). */
export interface OpenImmediate
  extends Pick<OpenSubprompt, keyof ToolCallKey | 'prompt' | 'arguments' | 'parentId'> {
  readonly tools: readonly ToolItem[];
}

export type OpenedImmediate =
  | { readonly kind: 'terminated' }
  /** There are none to make, they have their results, or the call is past them. */
  | { readonly kind: 'none' }
  | { readonly kind: 'stored'; readonly record: StepRecord };

/** A sub-prompt's stored step: the parts of the call's result. */
export interface StoredSubprompt {
  /** The answer's text. */
  readonly text: string | null;
  /** Why there is no answer. */
  readonly error: StoredError | null;
  /** Its calls, in order; those that hooks removed are not among them. */
  readonly calls: readonly SubpromptCall[];
  /** Files that its answer and its calls brought. */
  readonly attachments: readonly AttachmentRef[];
  /** What its hooks and tools asked of the flow, the last word. */
  readonly directive?: FlowDirective;
}

export interface SubpromptCall {
  readonly name: string;
  /** The model's JSON text. */
  readonly arguments: string;
  readonly status: ToolStatus;
  /** What the tool message says. */
  readonly content: string;
}

export interface SubpromptStore {
  /**
   * Opens the step that answers the call, or finds it: the same call again changes nothing but the step's attempt. The call
   * must have been begun.
   */
  open(command: OpenSubprompt): Promise<OpenedSubprompt>;
  /** Opens the step of the calls that come before, or finds it: as long as one of them has no result it is answered. */
  openImmediate(command: OpenImmediate): Promise<OpenedImmediate>;
  /** Null where the call has no step. */
  read(threadId: string, step: number, index: number): Promise<StoredSubprompt | null>;
}
