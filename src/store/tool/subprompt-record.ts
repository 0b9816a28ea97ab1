/**
 * Commands for the step of a sub-prompt (definitions §12.6), and their results. Its answer is stored by `steps.commit`.
 */

import type { FlowDirective } from '../../core/author/thread-execution.ts';
import type { AttachmentRef, ToolStatus, UnstoredMessage } from '../../core/message/message.ts';
import type { ToolItem } from '../../core/thread/item.ts';
import type { StoredError } from '../../core/thread/step.ts';
import type { StepRecord } from '../step/step-record.ts';
import type { FromFlow } from '../transaction/from-run.ts';
import type { QueuedTool, ToolCallKey } from './tool-record.ts';

export interface OpenSubprompt extends ToolCallKey, FromFlow {
  readonly prompt: string;
  /** Validated arguments. */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Id for the call's tool message, if the message has none yet. */
  readonly parentId: string;
  /** First message of the sub-prompt; absent if the call has none. */
  readonly message?: Omit<UnstoredMessage, 'role'>;
  /** As in `BeginStep`. */
  readonly left?: true;
  /** Tools that the hooks of that message queued. */
  readonly queuedTools?: readonly QueuedTool[];
}

export type OpenedSubprompt =
  | { readonly kind: 'terminated' }
  /** The call has its result, or the step has ended: no model needs to be called. */
  | { readonly kind: 'over' }
  /** The execution's budget denies the step; nothing of it is stored. */
  | { readonly kind: 'exceeded'; readonly error: StoredError }
  | { readonly kind: 'stored'; readonly record: StepRecord }
  | { readonly kind: 'call'; readonly step: number; readonly attempt: number };

/** The calls that come before the model step of a sub-prompt (runtime §7.3). */
export interface OpenImmediate
  extends Pick<OpenSubprompt, keyof ToolCallKey | 'activity' | 'prompt' | 'arguments' | 'parentId'> {
  readonly tools: readonly ToolItem[];
}

export type OpenedImmediate =
  | { readonly kind: 'terminated' }
  /** There are no calls to make, all of them have results, or the model step has begun. */
  | { readonly kind: 'none' }
  | { readonly kind: 'stored'; readonly record: StepRecord };

/** A sub-prompt's stored step: the parts of the call's result. */
export interface StoredSubprompt {
  /** The answer's text. */
  readonly text: string | null;
  /** Set if there is no answer. */
  readonly error: StoredError | null;
  /** Calls of the step, in order, without those that hooks removed. */
  readonly calls: readonly SubpromptCall[];
  /** Files of the answer and of the calls' results. */
  readonly attachments: readonly AttachmentRef[];
  /** Last flow directive of its hooks and tools. */
  readonly directive?: FlowDirective;
}

export interface SubpromptCall {
  readonly name: string;
  /** The model's JSON text. */
  readonly arguments: string;
  readonly status: ToolStatus;
  /** Content of the tool message. */
  readonly content: string;
}
